"""Many at once who each get a value that only one may have: every one of them gets one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.models.kb_article import KbArticle
from tests.contract.conftest import Api, admin, at_once, sign_in, statuses

pytestmark = pytest.mark.both_databases

__all__ = ["admin", "at_once", "sign_in"]


def test_articles_of_one_title_get_a_slug_each(
    at_once: Callable[..., list[Any]], session: Session
) -> None:
    article = {"title": "Refund policy", "body": "b"}
    answers = at_once(lambda api, number: api.post("/odata/KbArticles", article), 48)
    assert statuses(answers) == {201: 48}
    slugs = set(session.scalars(select(KbArticle.slug)))
    counted = {f"refund-policy-{count}" for count in range(2, 49)}
    assert slugs == {"refund-policy", *counted}


def test_a_title_with_a_count_wants_the_slug_of_another(
    at_once: Callable[..., list[Any]], session: Session
) -> None:
    """The third ``Policy`` and the first ``Policy 3`` would both be ``policy-3``."""
    titles = ("Policy", "Policy 2", "Policy 3", "Policy 2-2")
    answers = at_once(
        lambda api, number: api.post(
            "/odata/KbArticles", {"title": titles[number % len(titles)], "body": "b"}
        ),
        40,
    )
    assert statuses(answers) == {201: 40}
    assert len(set(session.scalars(select(KbArticle.slug)))) == 40


def test_drafts_from_one_ticket_get_a_slug_each(
    admin: Api, at_once: Callable[..., list[Any]]
) -> None:
    ticket = {"subject": "The fan is loud", "description": "It hums."}
    key = admin.post("/odata/Tickets", ticket).json["id"]
    mine = admin.get("/api/auth/me").json["id"]
    solution = {"status": "Solved", "assigneeId": mine, "resolution": "Oil the bearing."}
    solved = admin.patch(f"/odata/Tickets({key})", solution)
    assert solved.status_code == 200, solved.text
    answers = at_once(lambda api, number: api.post("/api/kb/from-ticket", {"ticketId": key}), 12)
    assert statuses(answers) == {201: 12}, answers[0].text
    assert len({answer.json["slug"] for answer in answers}) == 12


def test_a_group_of_settings_is_set_for_the_first_time_by_many(
    admin: Api, at_once: Callable[..., list[Any]]
) -> None:
    """There is no row yet that could be locked; what each of them sets stays."""
    parts = ({"city": "Hamburg"}, {"country": "DE"}, {"postalCode": "20095"}, {"street": "Kai 1"})
    answers = at_once(
        lambda api, number: api.patch("/api/admin/settings", {"seller": parts[number % 4]}),
        12,
    )
    assert statuses(answers) == {200: 12}, answers[0].text
    seller = admin.get("/api/admin/settings").json["seller"]
    for part in parts:
        assert part.items() <= seller.items()


def test_payments_of_drafts_and_of_invoices_wait_in_one_order(
    admin: Api, at_once: Callable[..., list[Any]]
) -> None:
    """Both number the payment and lock the client; a draft takes its own number besides."""
    client = admin.post("/odata/Clients", {"name": "Acme"}).json["id"]
    line = {"description": "Work", "quantity": 1, "unitPrice": 100}
    body = {"clientId": client, "LineItems": [line]}
    keys = [admin.post("/odata/Invoices", body).json["id"] for _ in range(24)]
    for key in keys[::2]:
        assert admin.post(f"/api/invoices/{key}/send", {"markOnly": True}).status_code == 200
    payment = {"amount": 10, "date": "2026-01-31", "method": "transfer"}
    answers = at_once(
        lambda api, number: api.post(f"/api/invoices/{keys[number]}/payments", payment), len(keys)
    )
    assert statuses(answers) == {201: 24}, [each.text for each in answers]

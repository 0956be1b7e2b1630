"""Many at once on the same record: one wins, the others are told, nothing is half done."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.models.event import Event
from tests.contract.conftest import Api, statuses
from tests.contract.test_put_and_children import sent_invoice

PAYMENT = {"amount": 0.01, "date": "2026-01-31", "method": "Transfer"}


@pytest.mark.requirement("RACE-05", "RACE-03")
def test_a_hundred_cents_are_one_unit(admin: Api, at_once: Callable[..., list[Any]]) -> None:
    invoice = sent_invoice(admin)
    path = f"/api/invoices/{invoice['id']}/payments"
    answers = at_once(lambda api, number: api.post(path, PAYMENT), 100)
    assert statuses(answers) == {201: 100}
    after = admin.get(f"/odata/Invoices({invoice['id']})")
    assert Decimal(str(after.json["amountPaid"])) == Decimal("1.00")


@pytest.mark.requirement("RACE-03")
def test_parts_that_are_more_together_than_the_total_stop_at_it(
    admin: Api, at_once: Callable[..., list[Any]], session: Session
) -> None:
    invoice = sent_invoice(admin)  # 119.00
    path = f"/api/invoices/{invoice['id']}/payments"
    answers = at_once(lambda api, number: api.post(path, {**PAYMENT, "amount": 20}), 12)
    assert statuses(answers) == {201: 5, 409: 7}
    after = admin.get(f"/odata/Invoices({invoice['id']})").json
    assert (after["amountPaid"], after["status"]) == (100, "PartiallyPaid")
    # Of the rest, one is taken; the state is told once, however many were refused.
    rest = at_once(lambda api, number: api.post(path, {**PAYMENT, "amount": 19}), 6)
    assert statuses(rest) == {201: 1, 409: 5}
    after = admin.get(f"/odata/Invoices({invoice['id']})").json
    assert (after["amountPaid"], after["status"]) == (119, "Paid")
    told = session.scalars(select(Event.entity_id).where(Event.type == "invoice.paid")).all()
    assert told == [invoice["id"]]


@pytest.mark.requirement("RACE-09", "RACE-10", "RACE-16")
def test_of_many_with_one_version_one_wins(
    admin: Api, made: dict[str, int], at_once: Callable[..., list[Any]]
) -> None:
    path = f"/odata/Clients({made['Clients']})"
    etag = admin.get(path).headers["ETag"]
    answers = at_once(
        lambda api, number: api.patch(
            path, {"name": f"n{number}", "notes": f"n{number}"}, headers={"If-Match": etag}
        ),
        20,
    )
    assert statuses(answers) == {200: 1, 412: 19} or statuses(answers) == {204: 1, 412: 19}
    after = admin.get(path).json
    (winner,) = [place for place, answer in enumerate(answers) if answer.status_code < 300]
    assert (after["name"], after["notes"]) == (f"n{winner}", f"n{winner}")


@pytest.mark.requirement("RACE-11", "RACE-16")
def test_changes_of_different_fields_keep_each_other(
    admin: Api, made: dict[str, int], at_once: Callable[..., list[Any]]
) -> None:
    path = f"/odata/Clients({made['Clients']})"
    fields = ("notes", "industry", "website", "phone")
    values = {"website": "https://example.com", "phone": "+49 30 123456"}
    answers = at_once(
        lambda api, number: api.patch(
            path, {fields[number]: values.get(fields[number], fields[number])}
        ),
        len(fields),
    )
    assert {answer.status_code for answer in answers} <= {200, 204}
    after = admin.get(path).json
    assert all(after[field] for field in fields), after


@pytest.mark.requirement("RACE-12", "RACE-16")
def test_of_many_deletions_one_wins(
    admin: Api, made: dict[str, int], at_once: Callable[..., list[Any]]
) -> None:
    path = f"/odata/Tasks({made['Tasks']})"
    assert statuses(at_once(lambda api, number: api.delete(path), 12)) == {204: 1, 404: 11}


@pytest.mark.requirement("RACE-13", "RACE-16")
def test_no_record_is_left_without_the_one_it_belongs_to(
    admin: Api, at_once: Callable[..., list[Any]]
) -> None:
    keys = [admin.post("/odata/Clients", {"name": "x"}).json["id"] for _ in range(6)]

    def ask(api: Api, number: int) -> Any:
        key = keys[number // 4]
        if number % 4 == 2:
            return api.delete(f"/odata/Clients({key})")
        return api.post("/odata/Opportunities", {"name": "Sale", "amount": 1, "clientId": key})

    answers = at_once(ask, 4 * len(keys))
    assert statuses(answers).keys() <= {201, 204, 400, 404, 409}
    left = {row["id"] for row in admin.get("/odata/Clients").json["value"]}
    for row in admin.get("/odata/Opportunities").json["value"]:
        assert row["clientId"] in left


@pytest.mark.requirement("RACE-14", "RACE-16")
def test_no_payment_is_taken_for_an_invoice_that_was_deleted(
    admin: Api, made: dict[str, int], at_once: Callable[..., list[Any]]
) -> None:
    line = {"description": "Work", "unitPrice": 100, "taxRate": 19}
    body = {"clientId": made["Clients"], "LineItems": [line]}
    keys = [admin.post("/odata/Invoices", body).json["id"] for _ in range(6)]

    def ask(api: Api, number: int) -> Any:
        key = keys[number // 2]
        if number % 2:
            return api.delete(f"/odata/Invoices({key})")
        return api.post(f"/api/invoices/{key}/payments", {**PAYMENT, "amount": 1})

    answers = at_once(ask, 2 * len(keys))
    assert statuses(answers).keys() <= {201, 204, 404, 409}
    for place, key in enumerate(keys):
        paid = answers[2 * place].status_code == 201
        deleted = answers[2 * place + 1].status_code == 204
        assert paid != deleted
        assert (admin.get(f"/odata/Invoices({key})").status_code == 200) is paid

"""Reading and judging articles, and what is learned from it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.models.event import Event
from tests.contract.conftest import Api
from tests.kb.test_search import author, make, search

__all__ = ["author"]

Index = Callable[[], None]


def rate(api: Api, key: int, helpful: bool, comment: str | None = None) -> Any:
    body = {"helpful": helpful, "comment": comment}
    return api.post(f"/api/kb/articles/{key}/feedback", body)


def test_an_article_is_shown_as_safe_html_and_counted(api: Api) -> None:
    body = "# Hello\n\n<a href='javascript:x'>a</a> **b**<script>alert(1)</script>"
    key = make(api, "password", body=body)
    before = api.get(f"/odata/KbArticles({key})")
    answer = api.get(f"/api/kb/articles/{key}/html")
    assert answer.status_code == 200
    assert answer.json["html"].strip() == (
        '<h1>Hello</h1>\n<p><a rel="noopener noreferrer nofollow">a</a> <strong>b</strong></p>'
    )
    answer.close()
    after = api.get(f"/odata/KbArticles({key})")
    assert (before.json["viewCount"], after.json["viewCount"]) == (0, 1)
    assert after.json["@odata.etag"] == before.json["@odata.etag"]
    assert api.get("/api/kb/articles/999/html").status_code == 404


def test_a_draft_is_shown_to_those_who_may_read_it_and_not_counted(
    api: Api, sign_in: Callable[..., Api]
) -> None:
    key = make(api, "password", status="Draft")
    api.get(f"/api/kb/articles/{key}/html").close()
    assert api.get(f"/odata/KbArticles({key})").json["viewCount"] == 0
    assert sign_in("Viewer").get(f"/api/kb/articles/{key}/html").status_code == 404


def test_each_reader_has_one_voice(api: Api, sign_in: Callable[..., Api], session: Session) -> None:
    key = make(api, "password")
    viewer = sign_in("Viewer")
    assert rate(api, key, True).json["helpfulCount"] == 1
    assert rate(viewer, key, True, "Great").json["helpfulCount"] == 2
    answer = rate(viewer, key, False, "Wrong after all")
    assert answer.json == {
        "articleId": key, "helpful": False, "comment": "Wrong after all", "helpfulCount": 1,
        "notHelpfulCount": 1,
    }  # fmt: skip
    article = api.get(f"/odata/KbArticles({key})").json
    assert (article["helpfulCount"], article["notHelpfulCount"]) == (1, 1)
    names = session.scalars(select(Event.type).where(Event.entity_id == key)).all()
    assert names.count("kb_article.feedback_received") == 3
    items = api.get(f"/api/kb/articles/{key}/feedback").json["items"]
    assert [(item["helpful"], item["comment"]) for item in items] == [
        (False, "Wrong after all"), (True, None),
    ]  # fmt: skip
    assert viewer.get(f"/api/kb/articles/{key}/feedback").status_code == 403


def test_only_published_articles_are_judged(api: Api) -> None:
    key = make(api, "password", status="Draft")
    assert rate(api, key, True).status_code == 404
    assert rate(api, 999, True).status_code == 404


@pytest.mark.parametrize(
    ("body", "field"),
    [({}, "helpful"), ({"helpful": "maybe"}, "helpful"),
     ({"helpful": True, "comment": "x" * 1001}, "comment"), ({"helpful": True, "a": 1}, "a")],
)  # fmt: skip
def test_wrong_feedback_is_refused(api: Api, body: dict[str, Any], field: str) -> None:
    key = make(api, "password")
    answer = api.post(f"/api/kb/articles/{key}/feedback", body)
    assert answer.status_code == 400
    assert [detail["field"] for detail in answer.json["error"]["details"]] == [field]


def missing(api: Api) -> dict[str, Any]:
    answer = api.get("/api/kb/missing")
    assert answer.status_code == 200, answer.text
    body: dict[str, Any] = answer.json
    return body


def test_questions_that_led_nowhere_are_reported(api: Api, index: Index) -> None:
    key = make(api, "password")
    index()
    for question in ("holiday requests", "Requests for a holiday?", "reset password"):
        search(api, question)
    times = {row["question"]: row["times"] for row in missing(api)["searches"]}
    assert times == {"holiday requests": 2, "reset password": 1}
    api.get(f"/api/kb/articles/{key}/html").close()
    times = {row["question"]: row["times"] for row in missing(api)["searches"]}
    assert "reset password" not in times


def test_tickets_solved_without_an_article_are_reported(api: Api) -> None:
    me = api.get("/api/auth/me").json["id"]
    keys = []
    for subject in ("Lonely", "Helped"):
        ticket = {"subject": subject, "assigneeId": me, "status": "Open"}
        keys.append(api.post("/odata/Tickets", ticket).json["id"])
        api.patch(f"/odata/Tickets({keys[-1]})", {"status": "Solved"})
    article = make(api, "password")
    link = {"@odata.id": f"KbArticles({article})"}
    assert api.post(f"/odata/Tickets({keys[1]})/KbArticles/$ref", link).status_code == 204
    assert [row["id"] for row in missing(api)["tickets"]] == [keys[0]]


def test_the_report_is_for_those_who_write(sign_in: Callable[..., Api]) -> None:
    assert sign_in("Viewer").get("/api/kb/missing").status_code == 403
    assert sign_in("Support").get("/api/kb/missing").status_code == 200


def test_who_reads_own_records_only_is_told_of_own_questions_only(
    api: Api, author: Api, index: Index
) -> None:
    key = make(api, "password")
    index()
    for asker in (api, author):
        search(asker, "holiday requests")
    search(api, "salary of Jane Doe")
    search(api, "reset password")
    assert [row["times"] for row in missing(author)["searches"]] == [1]
    assert {row["times"] for row in missing(api)["searches"]} == {2, 1}
    search(author, "reset password")
    api.get(f"/api/kb/articles/{key}/html").close()
    assert [row["question"] for row in missing(author)["searches"]] == [
        "holiday requests", "reset password",
    ]  # fmt: skip


def test_tickets_that_one_may_not_read_are_left_out_of_the_report(author: Api) -> None:
    assert missing(author)["tickets"] == []

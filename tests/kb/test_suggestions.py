"""What helps with a ticket, and articles drafted from tickets."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from app.kb import suggestions
from tests.contract.conftest import Api

Index = Callable[[], None]


def make(api: Api, entity_set: str, **values: Any) -> dict[str, Any]:
    answer = api.post(f"/odata/{entity_set}", values)
    assert answer.status_code == 201, answer.text
    body: dict[str, Any] = answer.json
    return body


def solve(api: Api, ticket: dict[str, Any], resolution: str) -> None:
    me = api.get("/api/auth/me").json["id"]
    changes = {"assigneeId": me, "status": "Solved", "resolution": resolution}
    answer = api.patch(f"/odata/Tickets({ticket['id']})", changes)
    assert answer.status_code == 200, answer.text


@pytest.fixture
def refunds(api: Api, index: Index) -> dict[str, int]:
    """An article, a solved ticket, one that is open, and one that asks."""
    article = make(
        api, "KbArticles", title="Refund of an invoice", status="Published",
        body="A refund goes back to the card that paid the invoice, within five days.",
    )  # fmt: skip
    solved = make(
        api, "Tickets", subject="Refund has not arrived", description="Invoice paid twice"
    )
    solve(api, solved, "The refund was sent again.")
    other = make(api, "Tickets", subject="Refund again missing", description="Paid twice")
    asking = make(
        api, "Tickets", subject="Where is my refund?", description="I paid the invoice twice."
    )
    index()
    return {
        "article": article["id"], "solved": solved["id"], "open": other["id"],
        "asking": asking["id"],
    }  # fmt: skip


def test_articles_and_solved_tickets_are_suggested_with_reasons(
    api: Api, refunds: dict[str, int]
) -> None:
    answer = api.get(f"/api/kb/suggest?ticketId={refunds['asking']}").json
    assert answer["ticketId"] == refunds["asking"]
    (item,) = answer["items"]
    assert 0 < item.pop("score") <= 1
    key = refunds["article"]
    assert item == {
        "id": key, "title": "Refund of an invoice", "reason": "matches: refund, invoice, paid",
        "linked": False, "url": f"/odata/KbArticles({key})",
        "snippet": "A <mark>refund</mark> goes back to the card that <mark>paid</mark> the"
        " <mark>invoice</mark>, within five days.",
    }  # fmt: skip
    (similar,) = answer["similarTickets"]
    assert 0.35 <= similar.pop("score") <= 1
    assert similar == {
        "id": refunds["solved"], "number": "T-000001", "subject": "Refund has not arrived",
        "status": "Solved", "resolution": "The refund was sent again.",
    }  # fmt: skip


def test_a_linked_article_is_shown_as_linked(api: Api, refunds: dict[str, int]) -> None:
    path = f"/odata/Tickets({refunds['asking']})/KbArticles/$ref"
    article = f"KbArticles({refunds['article']})"
    for _ in range(2):
        assert api.post(path, {"@odata.id": article}).status_code == 204
    suggest = f"/api/kb/suggest?ticketId={refunds['asking']}"
    assert api.get(suggest).json["items"][0]["linked"]
    assert api.delete(f"{path}?$id={article}").status_code == 204
    assert not api.get(suggest).json["items"][0]["linked"]


def test_links_are_made_from_the_article_too_and_need_the_right_to_change_the_ticket(
    api: Api, refunds: dict[str, int], sign_in: Callable[..., Api]
) -> None:
    path = f"/odata/KbArticles({refunds['article']})/Tickets/$ref"
    ticket = {"@odata.id": f"Tickets({refunds['asking']})"}
    assert sign_in("Sales").post(path, ticket).status_code == 403
    assert api.post(path, ticket).status_code == 204
    tickets = api.get(f"/odata/KbArticles({refunds['article']})/Tickets").json["value"]
    assert [row["id"] for row in tickets] == [refunds["asking"]]
    gone = f"{path}?$id=Tickets({refunds['asking']})"
    assert sign_in("Viewer").delete(gone).status_code == 403
    assert api.delete(gone).status_code == 204
    assert api.get(f"/odata/KbArticles({refunds['article']})/Tickets").json["value"] == []


def test_a_ticket_that_is_open_again_is_no_longer_suggested(
    api: Api, refunds: dict[str, int], index: Index
) -> None:
    assert api.patch(f"/odata/Tickets({refunds['solved']})", {"status": "Open"}).status_code == 200
    suggest = f"/api/kb/suggest?ticketId={refunds['asking']}"
    assert api.get(suggest).json["similarTickets"] == []
    index()
    assert api.get(suggest).json["similarTickets"] == []


@pytest.mark.parametrize("query", ["", "?ticketId=x", "?ticketId=0", "?ticketId=1&limit=99"])
def test_a_wrong_question_is_refused(api: Api, query: str) -> None:
    assert api.get(f"/api/kb/suggest{query}").status_code == 400


def test_a_ticket_that_is_not_there_is_not_found(api: Api) -> None:
    for answer in (
        api.get("/api/kb/suggest?ticketId=404"),
        api.post("/api/kb/from-ticket", {"ticketId": 404}),
    ):
        assert (answer.status_code, answer.json["error"]["code"]) == (404, "NOT_FOUND")
        assert answer.json["error"]["message"] == "There is no ticket 404."


def test_a_ticket_becomes_a_draft_without_persons(api: Api) -> None:
    ticket = make(
        api, "Tickets", subject="Printer offline", category="Devices",
        description="Call me: +49 30 1234567 or eva@acme.example.",
    )  # fmt: skip
    solve(api, ticket, "Restart the print server.")
    answer = api.post(
        "/api/kb/from-ticket", {"ticketId": ticket["id"], "title": "Offline printers"}
    )
    assert answer.status_code == 201, answer.text
    draft = answer.json
    assert answer.headers["Location"] == f"/odata/KbArticles({draft['id']})" == draft["url"]
    assert (draft["title"], draft["status"], draft["category"], draft["sourceTicketId"]) == (
        "Offline printers", "Draft", "Devices", ticket["id"],
    )  # fmt: skip
    assert draft["body"] == (
        "## Question\n\nCall me: (phone number) or (e-mail address).\n\n"
        "## Answer\n\nRestart the print server.\n"
    )
    linked = api.get(f"/odata/Tickets({ticket['id']})/KbArticles?$select=id").json["value"]
    assert [row["id"] for row in linked] == [draft["id"]]


def test_a_draft_is_in_the_language_of_its_ticket(api: Api) -> None:
    ticket = make(api, "Tickets", subject="Drucker", language="de")
    solve(api, ticket, "Den Druckdienst neu starten.")
    draft = api.post("/api/kb/from-ticket", {"ticketId": ticket["id"]}).json
    assert draft["language"] == "de"


@pytest.mark.parametrize("text", ["a" * 20_000, "a." * 10_000, "a@" * 10_000, "+1" * 10_000])
def test_a_text_that_is_nearly_an_address_costs_no_more_than_its_length(text: str) -> None:
    began = time.process_time()
    assert suggestions.without_persons(text)
    assert time.process_time() - began < 0.5


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("eva@acme.example", "(e-mail address)"),
        ("<eva.maria+1@mail.acme.example>,", "<(e-mail address)>,"),
        ("mailto:eva@acme.example", "mailto:(e-mail address)"),
        ("a@b and @home", "a@b and @home"),
        ("+49 (30) 123-4567", "(phone number)"),
    ],
)
def test_addresses_and_numbers_of_persons_are_left_out(text: str, left: str) -> None:
    assert suggestions.without_persons(text) == left


def test_without_a_resolution_the_last_public_answer_of_an_agent_is_taken(api: Api) -> None:
    ticket = make(api, "Tickets", subject="Printer offline")
    for body, is_internal in (("First try.", False), ("Is it plugged in?", False),
                              ("He is slow.", True)):  # fmt: skip
        note = {"body": body, "isInternal": is_internal}
        answer = api.post(f"/odata/Tickets({ticket['id']})/Comments", note)
        assert answer.status_code == 201, answer.text
    draft = api.post("/api/kb/from-ticket", {"ticketId": ticket["id"]}).json
    assert draft["body"] == ("## Question\n\n_To be written._\n\n## Answer\n\nIs it plugged in?\n")


@pytest.mark.parametrize("resolution", ["Done", "fixed it", "eva@acme.example"])
def test_a_word_is_no_answer(api: Api, resolution: str) -> None:
    ticket = make(api, "Tickets", subject="Printer offline")
    solve(api, ticket, resolution)
    wish = {"ticketId": ticket["id"]}
    refused = api.post("/api/kb/from-ticket", wish)
    assert refused.status_code == 400
    (detail,) = refused.json["error"]["details"]
    assert detail["field"] == "body"
    assert detail["message"].endswith("which answers nobody: give the text yourself.")
    assert api.get("/odata/KbArticles/$count").text == "0"
    draft = api.post("/api/kb/from-ticket", {**wish, "body": "Restart the print server."})
    assert (draft.status_code, draft.json["body"]) == (201, "Restart the print server.")


def test_a_dry_run_leaves_nothing(api: Api) -> None:
    ticket = make(api, "Tickets", subject="Printer offline")
    answer = api.post("/api/kb/from-ticket?dryRun=true", {"ticketId": ticket["id"]})
    assert (answer.status_code, answer.json["id"]) == (201, None)
    assert api.get("/odata/KbArticles/$count").text == "0"


def test_who_may_not_write_articles_drafts_none(sign_in: Callable[..., Api], api: Api) -> None:
    ticket = make(api, "Tickets", subject="Printer offline")
    assert (
        sign_in("Sales").post("/api/kb/from-ticket", {"ticketId": ticket["id"]}).status_code == 403
    )


def test_a_link_belongs_to_one_ticket_in_filters_and_expansions(
    api: Api, refunds: dict[str, int]
) -> None:
    path = f"/odata/Tickets({refunds['asking']})/KbArticles/$ref"
    api.post(path, {"@odata.id": f"KbArticles({refunds['article']})"})
    tickets = api.get("/odata/Tickets?$filter=KbArticles/any()&$select=id").json["value"]
    assert [row["id"] for row in tickets] == [refunds["asking"]]
    expanded = api.get("/odata/Tickets?$select=id&$expand=KbArticles($select=id)").json["value"]
    assert {row["id"]: len(row["KbArticles"]) for row in expanded} == {
        refunds["solved"]: 0, refunds["open"]: 0, refunds["asking"]: 1,
    }  # fmt: skip


def test_tickets_that_one_may_not_read_leave_no_trace_in_scores(
    api: Api, sign_in: Callable[..., Api], index: Index
) -> None:
    rights = {"tickets:read": "own", "tickets:create": "all", "tickets:update": "own",
              "kb:read": "all"}  # fmt: skip
    assert api.post("/api/admin/roles", {"name": "Own", "permissions": rights}).status_code == 201
    agent = sign_in("Own")
    solve(agent, make(agent, "Tickets", subject="Refund has not arrived"), "Sent again.")
    asking = make(agent, "Tickets", subject="Where is my refund?")["id"]
    index()
    before = agent.get(f"/api/kb/suggest?ticketId={asking}").json
    assert len(before["similarTickets"]) == 1
    for number in range(25):
        solve(api, make(api, "Tickets", subject=f"Where is my refund {number}?"), "Sent.")
    index()
    assert agent.get(f"/api/kb/suggest?ticketId={asking}").json == before

"""The business operations as OData actions and functions: the same effects and rights as REST."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.documents.schemas import ShareBodySchema
from app.models.event import AuditRecord, Event
from app.operations.wire_types import members_of
from tests.contract.batches import change_set, request, send
from tests.contract.conftest import Api
from tests.kb.conftest import index

__all__ = ["index"]

NS = "BusinessPlatform"


def make(api: Api, path: str, body: Any) -> Any:
    answer = api.post(f"/odata/{path}", body)
    assert answer.status_code == 201, answer.text
    return answer.json["id"]


def new_invoice(api: Api, price: float = 100, **more: Any) -> int:
    client = make(api, "Clients", {"name": "ACME", "email": "acme@example.com"})
    lines = [{"description": "Work", "unitPrice": price, "taxRate": 0}]
    key: int = make(api, "Invoices", {"clientId": client, "LineItems": lines, **more})
    return key


def issued(api: Api, price: float = 100) -> int:
    key = new_invoice(api, price)
    answer = api.post(f"/odata/Invoices({key})/{NS}.Send", {"markOnly": True})
    assert answer.status_code == 200, answer.text
    return key


# --- what each does -------------------------------------------------------------------------------


def test_convert(admin: Api, session: Session) -> None:
    lead = make(admin, "Leads", {"lastName": "Doe", "company": "Globex", "taxId": "DE136695976"})
    answer = admin.post(
        f"/odata/Leads({lead})/{NS}.Convert",
        {
            "client": {"paymentTermsDays": 7},
            "opportunity": {"name": "Deal", "amount": 12.5, "closeDate": "2026-12-31"},
            "onDuplicate": "link",
        },
    )
    assert answer.status_code == 200, answer.text
    body = answer.json
    assert body["@odata.context"].endswith(f"/odata/$metadata#{NS}.Conversion")
    assert (body["leadId"], body["status"], body["client"]["created"]) == (lead, "Converted", True)
    assert body["opportunity"]["amount"] == Decimal("12.50")
    client = admin.get(f"/odata/Clients({body['clientId']})").json
    assert (client["name"], client["paymentTermsDays"]) == ("Globex", 7)
    again = admin.post(f"/odata/Leads({lead})/{NS}.Convert", {})
    assert (again.status_code, again.json["error"]["code"]) == (409, "ALREADY_CONVERTED")
    session.rollback()
    assert session.connection().execute(select(Event).where(Event.type == "lead.converted")).one()


def test_send_pay_and_reverse(admin: Api) -> None:
    key = new_invoice(admin)
    sent = admin.post(
        f"/odata/Invoices({key})/{NS}.Send", {"to": ["a@example.com"], "attachPdf": False}
    )
    assert sent.status_code == 200, sent.text
    assert sent.json["delivery"]["to"] == ["a@example.com"]
    assert sent.json["issued"] is True
    paid = admin.post(
        f"/odata/Invoices({key})/{NS}.RegisterPayment?$select=number,amount",
        {"amount": 40.5, "date": "2026-01-31", "method": "transfer", "reference": "x"},
    )
    assert paid.status_code == 201, paid.text
    assert paid.json["amount"] == Decimal("40.50")
    address = paid.headers["Location"].partition("/odata/")[2]
    assert admin.get(f"/odata/{address}").json["reference"] == "x"
    assert admin.get(f"/odata/Invoices({key})/status").json["value"] == "PartiallyPaid"
    back = admin.post(f"/odata/{address}/{NS}.Reverse", {"reason": "bounced"})
    assert (back.status_code, back.json["status"]) == (200, "Reversed")
    assert admin.get(f"/odata/Invoices({key})/status").json["value"] == "Sent"


def test_void_write_off_and_credit(admin: Api) -> None:
    void = admin.post(f"/odata/Invoices({issued(admin)})/{NS}.Void", {"reason": "mistake"})
    assert (void.status_code, void.json["status"]) == (200, "Void")
    assert void.headers["ETag"] == void.json["@odata.etag"]
    key = issued(admin)
    off = admin.post(f"/odata/Invoices({key})/{NS}.MarkUncollectible?$expand=Client($select=name)")
    assert (off.json["status"], off.json["Client"]["name"]) == ("Uncollectible", "ACME")
    key = issued(admin)
    note = admin.post(
        f"/odata/Invoices({key})/{NS}.CreateCreditNote",
        {"lineItems": [{"description": "Back", "unitPrice": 5, "taxRate": 0}], "notes": "x"},
    )
    assert note.status_code == 201, note.text
    assert (note.json["type"], note.json["creditedInvoiceId"]) == ("CreditNote", key)
    assert note.headers["Location"].endswith(f"/odata/Invoices({note.json['id']})")


def test_restore(admin: Api) -> None:
    key = make(admin, "Documents", {"name": "a.txt", "fileName": "a.txt"})
    admin.delete(f"/odata/Documents({key})")
    assert admin.get(f"/odata/Documents({key})").status_code == 404
    answer = admin.post(f"/odata/Documents({key})/{NS}.Restore")
    assert (answer.status_code, answer.json["id"]) == (200, key)


def test_merge(admin: Api) -> None:
    stays, goes = (make(admin, "Clients", {"name": name}) for name in ("Stays", "Goes"))
    make(admin, "Contacts", {"lastName": "Doe", "clientId": goes})
    answer = admin.post(f"/odata/Clients({stays})/{NS}.Merge", {"sourceId": goes})
    assert (answer.status_code, answer.json["name"]) == (200, "Stays")
    assert admin.get(f"/odata/Clients({stays})/Contacts/$count").text == "1"
    assert admin.get(f"/odata/Clients({goes})").status_code == 404
    first, second = (make(admin, "Tickets", {"subject": name}) for name in ("One", "Two"))
    address = f"/odata/Tickets({first})/{NS}.Merge"
    for body in ({}, {"sourceId": second, "targetId": second}, {"targetId": first}):
        assert admin.post(address, body).status_code == 400
    answer = admin.post(address, {"targetId": second})
    assert (answer.status_code, answer.json["id"]) == (200, second)
    assert admin.get(f"/odata/Tickets({first})/mergedIntoId").json["value"] == second


def test_many_are_sent_each_by_itself(admin: Api) -> None:
    keys, body = [new_invoice(admin), 999, new_invoice(admin)], {"to": ["a@example.com"]}
    tried = admin.post("/api/invoices/send?dryRun=true", {"invoiceIds": keys, **body})
    assert [result["ok"] for result in tried.json["results"]] == [True, False, True]
    assert admin.get("/odata/Invoices/$count?$filter=status eq 'Draft'").text == "2"
    answer = admin.post("/odata/SendInvoices", {"invoiceIds": keys, **body})
    assert answer.status_code == 200, answer.text
    assert (answer.json["sent"], answer.json["failed"]) == (2, 1)
    assert answer.json["results"][1]["error"]["code"] == "NOT_FOUND"
    # Each was tried alone, and what a trial has given out is given out again.
    first = answer.json["results"][0]["number"]
    assert [result["number"] for result in tried.json["results"]] == [first, None, first]
    assert admin.post("/odata/SendInvoices", body).status_code == 400


def test_many_that_are_sent_in_a_change_set_are_undone_with_it(admin: Api) -> None:
    keys = [new_invoice(admin), 999, new_invoice(admin)]
    sending = request("POST", "SendInvoices", {"invoiceIds": keys, "markOnly": True})
    (failed,) = send(admin, change_set(sending, request("DELETE", "Clients(999999)")))
    assert failed.status == 404
    assert admin.get("/odata/Invoices/$count?$filter=status eq 'Draft'").text == "2"
    ((done,),) = (each.answers for each in send(admin, change_set(sending)))
    assert (done.status, done.json["sent"], done.json["failed"]) == (200, 2, 1)
    assert admin.get("/odata/Invoices/$count?$filter=status eq 'Sent'").text == "2"


def test_add_comment(admin: Api) -> None:
    ticket = make(admin, "Tickets", {"subject": "Broken"})
    answer = admin.post(f"/odata/Tickets({ticket})/{NS}.AddComment", {"body": "We look at it"})
    assert answer.status_code == 200, answer.text
    assert (answer.json["ticketId"], answer.json["ticket"]["status"]) == (ticket, "Open")
    wrong = {"body": "A", "byCustomer": True, "isInternal": True}
    refused = admin.post(f"/odata/Tickets({ticket})/{NS}.AddComment", wrong)
    assert refused.status_code == 400 and "isInternal" in refused.text
    for state in ("Solved", "Closed"):
        step = {"status": state, "assigneeId": 1}
        assert admin.patch(f"/odata/Tickets({ticket})", step).status_code == 200
    said = {"body": "Broken again", "byCustomer": True}
    answer = admin.post(f"/odata/Tickets({ticket})/{NS}.AddComment", said)
    assert answer.json["ticketId"] != ticket
    trial = admin.post(f"/api/tickets/{ticket}/comments?dryRun=true", said)
    assert (trial.status_code, trial.json["id"], "Location" in trial.headers) == (201, None, False)
    assert (trial.json["ticketId"], trial.json["ticket"]["id"]) == (None, None)
    assert trial.json["ticket"]["status"] == "Open"
    assert admin.get("/odata/Tickets/$count").text == "2"


def test_share(admin: Api) -> None:
    key = make(admin, "Documents", {"name": "a.txt", "fileName": "a.txt"})
    assert admin.post(f"/odata/Documents({key})/{NS}.Share").status_code == 409  # has no file
    put = admin.client.put(f"/api/documents/{key}/content", data=b"Dear", headers=admin.headers)
    assert put.status_code == 200, put.text
    trial = admin.post(f"/api/documents/{key}/share?dryRun=true")
    assert [trial.json[name] for name in ("id", "token", "url")] == [None, None, None]
    answer = admin.post(f"/odata/Documents({key})/{NS}.Share", {"maxDownloads": 1})
    assert answer.status_code == 200, answer.text
    assert answer.json["url"].endswith(f"/s/{answer.json['token']}")
    assert admin.client.get(f"/s/{answer.json['token']}").data == b"Dear"
    assert admin.get(f"/odata/Documents({key})/Shares/$count").text == "1"
    refused = admin.post(f"/odata/Documents({key})/{NS}.Share", {"expiresInDays": 400})
    assert refused.json["error"]["details"][0]["target"] == "expiresInDays"
    nothing = dict.fromkeys(members_of(ShareBodySchema))
    assert admin.post(f"/odata/Documents({key})/{NS}.Share", nothing).status_code == 200
    assert admin.post(f"/api/documents/{key}/share", nothing).status_code == 201


def test_what_is_new_is_told_whatever_is_preferred(admin: Api) -> None:
    minimal = {"Prefer": "return=minimal"}
    ticket = make(admin, "Tickets", {"subject": "Broken"})
    document = make(admin, "Documents", {"name": "a.txt", "fileName": "a.txt"})
    admin.client.put(f"/api/documents/{document}/content", data=b"A", headers=admin.headers)
    comment = f"/odata/Tickets({ticket})/{NS}.AddComment"
    link = f"/odata/Documents({document})/{NS}.Share"
    for address, body, member in ((comment, {"body": "A"}, "id"), (link, {}, "token")):
        answer = admin.post(address, body, headers=minimal)
        assert answer.status_code == 200, answer.text
        assert answer.json[member] and "Preference-Applied" not in answer.headers
    of_each = "/odata/Tickets/$each/AddComment"
    answer = admin.post(of_each, {"body": "B"}, headers=minimal)
    assert [each["ticketId"] for each in answer.json["value"]] == [ticket]


def test_an_article_is_drafted_and_rated(admin: Api, index: Callable[[], None]) -> None:
    ticket = make(admin, "Tickets", {"subject": "Printer offline", "description": "It blinks."})
    address, wish = "/odata/DraftFromTicket", {"body": "Restart the print server."}
    assert admin.post(address, wish).json["error"]["details"][0]["target"] == "ticketId"
    assert admin.post(address, {"ticketId": 999}).status_code == 404
    draft = admin.post(address, {**wish, "ticketId": ticket})
    assert draft.status_code == 201, draft.text
    key = draft.json["id"]
    assert draft.headers["Location"].endswith(f"/odata/KbArticles({key})")
    rating = f"/odata/KbArticles({key})/{NS}.Rate"
    assert admin.post(rating, {"helpful": True}).status_code == 404  # is not published
    admin.patch(f"/odata/KbArticles({key})", {"status": "Published"})
    assert admin.post(rating, {"helpful": True}).json["helpfulCount"] == 1
    index()
    found = admin.get(f"/odata/SuggestForTicket(ticketId={ticket})").json
    assert [item["id"] for item in found["items"]] == [key]
    assert admin.get("/odata/MissingArticles(days=7)").json["searches"] == []


def test_a_function_answers_as_its_view(admin: Api) -> None:
    client = make(admin, "Clients", {"name": "ACME"})
    invoice = make(admin, "Invoices", {"clientId": client})
    article = make(admin, "KbArticles", {"title": "Reset", "body": "Hold it.", "status": "Draft"})
    document = make(admin, "Documents", {"name": "turbine.txt", "fileName": "turbine.txt"})
    admin.client.put(f"/api/documents/{document}/content", data=b"A", headers=admin.headers)
    admin.patch(f"/odata/KbArticles({article})", {"status": "Published"})
    admin.post(f"/api/kb/articles/{article}/feedback", {"helpful": False, "comment": "Which?"})
    for function, view in (
        (f"Invoices({invoice})/{NS}.CheckEInvoice()", f"invoices/{invoice}/preflight"),
        (f"KbArticles({article})/ListFeedback()", f"kb/articles/{article}/feedback"),
        ("DocumentSearch(q='turbine')", "documents/search?q=turbine"),
    ):
        answer, rest = admin.get(f"/odata/{function}"), admin.get(f"/api/{view}")
        assert (answer.status_code, rest.status_code) == (200, 200), answer.text + rest.text
        body = answer.json
        assert body.pop("@odata.context")
        assert body == rest.json
        (items,) = (value for value in body.values() if isinstance(value, list))
        assert items
    for function in (f"Invoices(9)/{NS}.CheckEInvoice()", "KbArticles(9)/ListFeedback()"):
        assert admin.get(f"/odata/{function}").status_code == 404


def test_pipeline_summary(admin: Api) -> None:
    client = make(admin, "Clients", {"name": "ACME"})
    make(admin, "Opportunities", {"name": "Deal", "clientId": client, "amount": 100})
    for address in (
        "PipelineSummary()",
        "PipelineSummary",
        "PipelineSummary(from=2000-01-01,to=2999-12-31)",
        "PipelineSummary(ownerId=1)",
    ):
        answer = admin.get(f"/odata/{address}")
        assert answer.status_code == 200, answer.text
    answer = admin.get("/odata/PipelineSummary()")
    rest = admin.get("/api/crm/pipeline/summary").json
    assert answer.json["totals"] == rest["totals"]
    assert answer.json["totals"]["openAmount"] == 100
    assert set(rest) == set(answer.json) - {"@odata.context"}
    wrong = admin.get("/odata/PipelineSummary(from=2026-02-01,to=2026-01-01)")
    assert wrong.json["error"]["details"][0]["target"] == "to"
    listed = {item["name"]: item["kind"] for item in admin.get("/odata/").json["value"]}
    assert listed["PipelineSummary"] == "FunctionImport"


@pytest.mark.parametrize(
    "query", ["to=null&to=null", "to=2026-01-31&to=2026-12-31", "to=2026-01-31&@to=2026-12-31"]
)
def test_a_parameter_is_given_once(admin: Api, query: str) -> None:
    answer = admin.get(f"/odata/PipelineSummary?{query}")
    assert answer.status_code == 400
    assert answer.json["error"]["message"] == "to must not appear more than once."


def test_null_stands_for_a_parameter_that_is_left_out(admin: Api) -> None:
    without = admin.get("/odata/PipelineSummary").json
    given = admin.get("/odata/PipelineSummary?from=null&to=null").json
    assert given["period"] == without["period"] == {"from": None, "to": None}


def test_kb_search(admin: Api, index: Callable[[], None]) -> None:
    article = {"title": "Reset your password", "body": "Click on forgotten.", "category": "Access"}
    key = make(admin, "KbArticles", article)
    admin.patch(f"/odata/KbArticles({key})", {"status": "Published"})
    index()
    for address in (
        "KbSearch(q='password',mode='keyword')",
        "KbSearch(q=@q,mode=@m)?@q='password'&@m='keyword'",
        "KbSearch?q=password&mode=keyword",
        "KbSearch?@q='password'&@mode='keyword'&limit=5",
    ):
        answer = admin.get(f"/odata/{address}")
        assert answer.status_code == 200, answer.text
        assert [item["id"] for item in answer.json["items"]] == [key], address
        assert answer.json["@odata.context"].endswith(f"#{NS}.KbSearchResult")


# --- how they are called --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"amuont": 1}, "amuont"),
        ({"amount": "much", "date": "2026-01-31", "method": "transfer"}, "amount"),
        ({"amount": 1, "date": "31.1.2026", "method": "transfer"}, "date"),
        ({"amount": None, "date": "2026-01-31", "method": "transfer"}, "amount"),
        ({"amount": 1, "method": "transfer"}, "date"),
        ({"amount": 1, "date": "2026-01-31", "method": "barter"}, "method"),
        ({"amount": -1, "date": "2026-01-31", "method": "transfer"}, "amount"),
        ([], ""),
    ],
)
def test_a_parameter_that_is_wrong_is_named(admin: Api, body: Any, field: str) -> None:
    answer = admin.post(f"/odata/Invoices({new_invoice(admin)})/{NS}.RegisterPayment", body)
    assert answer.status_code == 400, answer.text
    error = answer.json["error"]
    assert error["code"] == "VALIDATION_ERROR"
    assert field in [detail["target"] for detail in error["details"]]


def test_values_inside_a_parameter_are_named_with_their_place(admin: Api) -> None:
    lead = make(admin, "Leads", {"lastName": "Doe"})
    for body, field in (
        ({"opportunity": {"amount": "x"}}, "opportunity.amount"),
        ({"opportunity": {"nmae": "x"}}, "opportunity.nmae"),
        ({"client": {"nothing": 1}}, "client.nothing"),
        ({"onDuplicate": "maybe"}, "onDuplicate"),
        ({"clientId": 99999}, "clientId"),
    ):
        answer = admin.post(f"/odata/Leads({lead})/{NS}.Convert", body)
        assert answer.status_code == 400, answer.text
        assert answer.json["error"]["details"][0]["target"] == field
    assert admin.get(f"/odata/Leads({lead})/status").json["value"] == "New"


@pytest.mark.parametrize(
    ("method", "address", "status"),
    [
        ("GET", f"Leads(1)/{NS}.Convert", 405),
        ("PATCH", f"Leads(1)/{NS}.Convert", 405),
        ("POST", "KbSearch", 405),
        ("DELETE", "KbSearch(q='x')", 405),
        ("POST", f"Leads(999999)/{NS}.Convert", 404),
        ("POST", f"Clients(1)/{NS}.Convert", 404),
        ("POST", f"Leads/{NS}.Convert", 404),
        ("POST", f"Leads(1)/lastName/{NS}.Convert", 404),
        ("POST", f"Leads(1)/{NS}.Nothing", 404),
        ("POST", "Leads(1)/Other.Convert", 404),
        ("POST", f"Leads(x)/{NS}.Convert", 400),
        ("POST", f"Leads(1)/{NS}.Convert/clientId", 400),
        ("GET", "KbSearch", 400),
        ("GET", "KbSearch()", 400),
        ("GET", "KbSearch(q=1)", 400),
        ("GET", "KbSearch(q=null)", 400),
        ("GET", "KbSearch(x='1')", 400),
        ("GET", "KbSearch('1')", 400),
        ("GET", "KbSearch(q='a',limit=0)", 400),
        ("GET", "KbSearch(q='a',limit='x')", 400),
        ("GET", "KbSearch(q='a',mode='magic')", 400),
        ("GET", "KbSearch(q=@q)", 400),
        ("GET", "KbSearch(q='a')?$filter=total gt 1", 400),
        ("GET", "KbSearch(q='a')?$nothing=1", 400),
        ("GET", "KbSearch(q='a')/total", 400),
        ("GET", "KbSearch(q='a'", 400),
        ("GET", "KbSearch?q=a&limt=3", 400),
    ],
)
def test_calls_that_are_no_calls(admin: Api, method: str, address: str, status: int) -> None:
    make(admin, "Leads", {"lastName": "Doe"})
    make(admin, "Clients", {"name": "ACME"})
    body = {"json": {}} if method == "POST" else {}
    answer = admin.client.open(f"/odata/{address}", method=method, headers=admin.headers, **body)
    assert answer.status_code == status, answer.text
    assert answer.json["error"]["message"]
    if status == 405:
        assert answer.headers["Allow"] in ("POST, OPTIONS", "GET, HEAD, OPTIONS")


def test_bodies_of_another_kind(admin: Api) -> None:
    lead = make(admin, "Leads", {"lastName": "Doe"})
    address = f"/odata/Leads({lead})/{NS}.Convert"
    for data, kind, status in (
        ("{}", "text/plain", 415),
        ("{", "application/json", 400),
        ('"x"', "application/json", 400),
        ("", "", 200),
    ):
        headers = {**admin.headers, "Content-Type": kind}
        answer = admin.client.post(address, data=data, headers=headers)
        assert answer.status_code == status, answer.text


def test_preferences_and_conditions(admin: Api) -> None:
    key = issued(admin)
    address = f"/odata/Invoices({key})/{NS}.MarkUncollectible"
    stale = admin.post(address, {}, headers={"If-Match": 'W/"99"'})
    assert stale.status_code == 412
    tag = admin.get(f"/odata/Invoices({key})").headers["ETag"]
    answer = admin.post(address, {}, headers={"If-Match": tag, "Prefer": "return=minimal"})
    assert (answer.status_code, answer.data) == (204, b"")
    assert answer.headers["Preference-Applied"] == "return=minimal"


def test_numbers_as_texts_where_asked_for(admin: Api) -> None:
    kind = "application/json;IEEE754Compatible=true"
    lead = make(admin, "Leads", {"lastName": "Doe"})
    answer = admin.client.post(
        f"/odata/Leads({lead})/{NS}.Convert",
        data=json.dumps({"opportunity": {"amount": "12.50"}}),
        headers={**admin.headers, "Content-Type": kind, "Accept": kind},
    )
    assert answer.status_code == 200, answer.text
    assert '"amount":"12.50"' in answer.text and f'"leadId":"{lead}"' in answer.text


def test_rights_are_those_of_rest(
    admin: Api, sign_in: Callable[..., Api], session: Session
) -> None:
    key = issued(admin)
    support = sign_in("Support")
    for name, body in (("Send", {}), ("Void", {"wrong": 1}), ("RegisterPayment", {})):
        answer = support.post(f"/odata/Invoices({key})/{NS}.{name}", body)
        assert answer.status_code == 403, answer.text
    assert sign_in("Accountant").get("/odata/KbSearch(q='x',mode='keyword')").status_code == 200
    session.rollback()
    denied = session.connection().execute(
        select(AuditRecord).where(AuditRecord.action == "access.denied")
    )
    assert len(denied.all()) == 3


def test_an_operation_in_a_change_set_is_undone_with_it(admin: Api) -> None:
    lead = make(admin, "Leads", {"lastName": "Doe", "company": "Globex"})
    (failed,) = send(
        admin,
        change_set(
            request("POST", f"Leads({lead})/{NS}.Convert", {}),
            request("DELETE", "Clients(999999)"),
        ),
    )
    assert failed.status == 404
    assert admin.get(f"/odata/Leads({lead})/status").json["value"] == "New"
    assert admin.get("/odata/Clients/$count").text == "0"
    (made,) = send(
        admin,
        change_set(
            request("POST", "Leads", {"lastName": "New"}, content_id="1"),
            request("POST", f"$1/{NS}.Convert", {}, content_id="2"),
        ),
    )
    assert [one.status for one in made.answers] == [201, 200]


def test_all_metadata_tell_which_actions_are_possible(
    admin: Api, sign_in: Callable[..., Api]
) -> None:
    draft, sent = new_invoice(admin), issued(admin)
    full = {"Accept": "application/json;odata.metadata=full"}
    shown = admin.get(f"/odata/Invoices({draft})", headers=full).json
    address = f"Invoices({draft})/{NS}.Send"
    assert shown[f"#{NS}.Send"] == {"title": "Send", "target": address}
    assert shown[f"#{NS}.Void"] is None
    assert admin.post(f"/odata/{address}", {"markOnly": True}).status_code == 200
    rows = admin.get(f"/odata/Invoices?$filter=id eq {sent}", headers=full).json["value"]
    assert rows[0][f"#{NS}.Void"]["target"] == f"Invoices({sent})/{NS}.Void"
    support = sign_in("Support").get(f"/odata/Invoices({sent})", headers=full).json
    assert support[f"#{NS}.Void"] is None and support[f"#{NS}.Send"] is None
    assert f"#{NS}.Send" not in admin.get(f"/odata/Invoices({sent})").json
    paid = {"amount": 1, "date": "2026-01-31", "method": "transfer"}
    admin.post(f"/odata/Invoices({sent})/{NS}.RegisterPayment", paid)
    (payment,) = admin.get(f"/odata/Invoices({sent})/Payments", headers=full).json["value"]
    target = payment[f"#{NS}.Reverse"]["target"]
    assert admin.post(f"/odata/{target}", {"reason": "x"}).status_code == 200


def test_the_metadata_declares_them(admin: Api) -> None:
    document = json.loads(admin.get("/odata/$metadata?$format=json").text)
    schema = document[NS]
    convert = schema["Convert"][0]
    assert (convert["$Kind"], convert["$IsBound"]) == ("Action", True)
    assert convert["$Parameter"][0] == {"$Name": "binding", "$Type": f"{NS}.Lead"}
    assert convert["$ReturnType"] == {"$Type": f"{NS}.Conversion"}
    assert schema["RegisterPayment"][0]["$EntitySetPath"] == "binding/Payments"
    assert schema["Default"]["KbSearch"] == {"$Function": f"{NS}.KbSearch"}
    names = {"Send", "RegisterPayment", "Void", "MarkUncollectible", "CreateCreditNote", "Reverse",
             "Restore"}  # fmt: skip
    assert names <= schema.keys()

"""Whose events go where: an endpoint tells its owner's readers nothing they may not read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask

from app.events import EVENT_NAMES, MAX_PAYLOAD_BYTES, NAMES
from app.webhooks.subscriptions import FOR_ADMINISTRATORS, PERMISSIONS, matches, names_of
from tests.contract.conftest import Api
from tests.receivers import Receiver
from tests.waiting import until
from tests.webhooks.conftest import Run, deliveries, make_client, register, when_all


@pytest.mark.parametrize(
    ("patterns", "name", "expected"),
    [
        (["*"], "invoice.paid", True),
        (["invoice.*"], "invoice.paid", True),
        (["invoice.paid"], "invoice.paid", True),
        (["invoice.created", "client.*"], "invoice.paid", False),
        ([], "invoice.paid", False),
        (["kb.*"], "kb_article.created", False),
        (["kb_article.*"], "kb_article.created", True),
    ],
)
def test_patterns(patterns: list[str], name: str, expected: bool) -> None:
    assert matches(patterns, name) is expected


def test_every_object_has_its_permission() -> None:
    assert PERMISSIONS.keys() | set(FOR_ADMINISTRATORS) == NAMES.keys()
    assert names_of(["*"]) == EVENT_NAMES
    assert names_of(["payment.*"]) == {"payment.created", "payment.reversed"}


def role(admin: Api, name: str, **permissions: str) -> None:
    answer = admin.post("/api/admin/roles", {"name": name, "permissions": permissions})
    assert answer.status_code == 201, answer.text


def key(admin: Api, app: Flask, role_name: str, *scopes: str) -> Api:
    made = admin.post(
        "/api/admin/api-keys", {"name": "hooks", "role": role_name, "scopes": list(scopes)}
    )
    assert made.status_code == 201, made.text
    return Api(app.test_client(), {"X-API-Key": made.json["key"], "X-Id": str(made.json["id"])})


INTEGRATOR = {
    "webhooks:create": "all", "webhooks:read": "all", "webhooks:update": "all",
    "events:read": "all", "clients:read": "own", "clients:create": "all",
}  # fmt: skip


def test_owner_with_rights_to_own_records_gets_only_those(
    near: Flask, api: Api, sign_in: Callable[..., Api], there: Receiver, work: Run
) -> None:
    role(api, "Integrator", **INTEGRATOR)
    integrator = sign_in("Integrator", near)
    webhook = register(integrator, there.url(), "*")
    with work(near):
        make_client(api, name="Of somebody else")
        own = make_client(integrator, name="Own")
        api.post("/odata/Tickets", {"subject": "Not readable"})
        when_all(integrator, webhook, "succeeded")
        journal = until(lambda: integrator.get("/api/events").json["items"])
    assert [taken.json["data"]["object"]["id"] for taken in there.taken] == [own]
    assert [event["entityId"] for event in journal] == [own]


@pytest.mark.parametrize("pattern", ["ticket.created", "invoice.*", "user.created", "webhook.*"])
def test_subscription_to_what_the_caller_may_not_read_is_refused(
    near: Flask, api: Api, sign_in: Callable[..., Api], pattern: str
) -> None:
    role(api, "Integrator", **INTEGRATOR)
    body = {"url": "https://example.com/", "events": [pattern]}
    answer = sign_in("Integrator", near).post("/api/webhooks", body)
    assert (answer.status_code, answer.json["error"]["code"]) == (403, "FORBIDDEN")


def test_events_of_the_administration_go_to_administrators_only(
    near: Flask, api: Api, there: Receiver, work: Run
) -> None:
    narrow = key(api, near, "Admin", "webhooks:create", "clients:read")
    wide = key(api, near, "Admin")
    register(narrow, there.url("/ok?narrow"), "*")
    webhook = register(wide, there.url("/ok?wide"), "api_key.*", "client.created")
    with work(near):
        made = key(api, near, "Viewer")
        make_client(api)
        until(lambda: len(there.at("/ok?narrow")) == 1)
        when_all(api, webhook, "succeeded", 4)
    assert {taken.json["type"] for taken in there.at("/ok?narrow")} == {"client.created"}
    told = [taken.json["data"]["object"] for taken in there.at("/ok?wide")]
    assert made.headers["X-Id"] in {str(shown["id"]) for shown in told}
    assert not any("key" in shown for shown in told)


def test_endpoint_of_a_revoked_key_is_disabled_and_who_enables_it_owns_it(
    near: Flask, api: Api, there: Receiver, work: Run
) -> None:
    integration = key(api, near, "Admin")
    webhook = register(integration, there.url(), "client.created")
    path = f"/api/webhooks/{webhook['id']}"
    assert api.delete(f"/api/admin/api-keys/{integration.headers['X-Id']}").status_code == 204
    with work(near):
        make_client(api)
        shown = until(lambda: _with_status(api.get(path).json, "disabled"))
        assert shown["disabledReason"] == "The account that owns it may not sign in any more."
        assert there.taken == []
        me = api.get("/api/auth/me").json["id"]
        assert api.patch(path, {"status": "active"}).json["createdById"] == me
        api.post(f"{path}/recover", {"since": webhook["createdAt"]})
        when_all(api, webhook, "succeeded")


def _with_status(shown: dict[str, Any], status: str) -> dict[str, Any] | None:
    return shown if shown["status"] == status else None


@pytest.mark.requirement("SEC-95")
def test_bodies_stay_within_twenty_kilobytes(
    near: Flask, api: Api, there: Receiver, work: Run
) -> None:
    webhook = register(api, there.url(), "kb_article.created")
    with work(near):
        for size in (MAX_PAYLOAD_BYTES - 3000, MAX_PAYLOAD_BYTES, 150_000):
            body = {"title": "Long", "body": "ü" * (size // 2)}
            assert api.post("/odata/KbArticles", body).status_code == 201
        when_all(api, webhook, "succeeded", 3)
    assert all(len(taken.body) <= 20_000 for taken in there.taken)
    objects = {taken.json["data"]["object"]["id"]: taken.json["data"] for taken in there.taken}
    assert "body" in objects[1]["object"]
    for number in (2, 3):
        assert objects[number]["object"] == {"id": number, "url": f"/odata/KbArticles({number})"}
        assert objects[number]["sequence"] == 1


def test_who_says_where_an_endpoint_leads_owns_it(
    near: Flask, api: Api, sign_in: Callable[..., Api], there: Receiver, work: Run
) -> None:
    role(api, "Integrator", **INTEGRATOR)
    integrator = sign_in("Integrator", near)
    webhook = register(api, "https://example.com/", "*")
    path = f"/api/webhooks/{webhook['id']}"
    mine = integrator.get("/api/auth/me").json["id"]
    assert integrator.patch(path, {"description": "Read"}).json["createdById"] != mine
    assert integrator.patch(path, {"url": there.url()}).json["createdById"] == mine
    with work(near):
        make_client(api, name="Of somebody else")
        own = make_client(integrator, name="Own")
        when_all(api, webhook, "succeeded")
    assert [taken.json["data"]["object"]["id"] for taken in there.taken] == [own]
    theirs = register(api, "https://example.com/", "ticket.*")
    answer = integrator.patch(f"/api/webhooks/{theirs['id']}", {"url": there.url()})
    assert answer.status_code == 403


def test_bodies_of_deliveries_are_shown_to_who_may_read_the_record(
    near: Flask, api: Api, sign_in: Callable[..., Api], work: Run
) -> None:
    webhook = register(api, "https://example.invalid/", "user.created", "client.created")
    manager = sign_in("Manager", near)
    make_client(api)
    with work(near):
        until(lambda: len(deliveries(api, webhook)) >= 2)
    for caller, hidden in ((api, set()), (manager, {"user.created"})):
        shown = deliveries(caller, webhook)
        assert {item["eventType"] for item in shown if item["request"]["body"] is None} == hidden
        assert "client.created" in {item["eventType"] for item in shown}


def test_what_a_record_was_is_told_to_those_who_could_read_it_then(
    near: Flask, api: Api, sign_in: Callable[..., Api], there: Receiver, work: Run
) -> None:
    rights = {"webhooks:create": "all", "webhooks:read": "all", "events:read": "all"}
    role(api, "Readers", **rights, **{"kb:read": "published"})
    reader = sign_in("Readers", near)
    webhook = register(reader, there.url("/ok?reader"), "kb_article.*")
    register(api, there.url("/ok?all"), "kb_article.*")
    article = {"title": "Leave", "body": "A draft that nobody is to see."}
    with work(near):
        made = api.post("/odata/KbArticles", article)
        path = f"/odata/KbArticles({made.json['id']})"
        published = {"body": "What everybody may read.", "status": "Published"}
        assert api.patch(path, published).status_code == 200
        assert api.patch(path, {"body": "Corrected."}).status_code == 200
        assert api.patch(path, {"status": "Draft"}).status_code == 200
        when_all(reader, webhook, "succeeded", 3)
        until(lambda: len(there.at("/ok?all")) >= 5)
        journal = reader.get("/api/events").json["items"]
    told = [taken.json["data"] for taken in there.at("/ok?reader")]
    shown = reader.get(f"/api/webhooks/{webhook['id']}/deliveries").json["items"]
    for data in (told, [event["data"] for event in journal]):
        assert {each["object"]["status"] for each in data} == {"Published"}
        before = [each["previous"] and each["previous"]["body"] for each in data]
        assert sorted(before, key=str) == [None, None, "What everybody may read."]
    assert not any("draft" in delivery["request"]["body"] for delivery in shown)
    assert any("draft" in str(taken.json) for taken in there.at("/ok?all"))


LARGE = {"customFields": {"text": "x" * 19_900}}
NAMED = {
    "Clients": "name", "Contacts": "lastName", "Leads": "lastName", "Tickets": "subject",
    "Tasks": "title", "Projects": "name", "Documents": "name",
}  # fmt: skip


@pytest.mark.both_databases
def test_large_records_are_told_to_those_who_may_read_them(
    near: Flask, api: Api, sign_in: Callable[..., Api], work: Run
) -> None:
    resources = [entity_set.lower() for entity_set in NAMED]
    own = {f"{resource}:read": "own" for resource in resources}
    every = {f"{resource}:{verb}": "all" for resource in resources for verb in ("create", "update")}
    role(api, "Owners", **own, **every, **{"events:read": "all", "kb:read": "published"})
    owner = sign_in("Owners", near)
    others: list[str] = []
    owned: list[str] = []
    with work(near):
        for caller, written in ((api, others), (owner, owned)):
            for entity_set, name in NAMED.items():
                made = caller.post(f"/odata/{entity_set}", {name: "Large", **LARGE})
                assert made.status_code == 201, made.text
                written.append(f"/odata/{entity_set}({made.json['id']})")
                assert caller.patch(written[-1], {name: "Larger"}).status_code == 200
        for _ in range(2):
            made = api.post("/odata/KbArticles", {"title": "Leave", "body": "secret " * 4000})
            others.append(f"/odata/KbArticles({made.json['id']})")
        published = others[-1]
        assert api.patch(published, {"status": "Published"}).status_code == 200
        until(lambda: published in [each["object"]["url"] for each in _large(api)[-1:]])
        told, everything = _large(owner), _large(api)
    assert {each["object"]["url"] for each in told} == {*owned, published}
    assert not any(each.get("previous") for each in told)
    assert {each["object"]["url"] for each in everything} == {*others, *owned}
    before = [value for each in everything for value in (each.get("previous") or {}).values()]
    assert before.count("Large") == 2 * len(NAMED)


def _large(caller: Api) -> list[dict[str, Any]]:
    """``data`` of the events about records that are told by their address."""
    events = caller.get("/api/events?limit=500").json["items"]
    return [event["data"] for event in events if event["data"]["object"].keys() == {"id", "url"}]


def test_payments_of_own_invoices_are_told(
    near: Flask, api: Api, sign_in: Callable[..., Api], there: Receiver, work: Run
) -> None:
    rights = dict.fromkeys(
        ("webhooks:create", "webhooks:read", "invoices:create", "invoices:send",
         "invoices:update", "payments:create", "clients:read"),
        "all",
    )  # fmt: skip
    role(api, "Biller", **rights, **{"invoices:read": "own"})
    biller = sign_in("Biller", near)
    webhook = register(biller, there.url(), "payment.*")
    payments = []
    client_id = make_client(api)
    with work(near):
        for caller in (api, biller):
            lines = [{"description": "Work", "unitPrice": 100, "taxRate": 19}]
            made = caller.post("/odata/Invoices", {"clientId": client_id, "LineItems": lines})
            path = f"/odata/Invoices({made.json['id']})"
            sent = caller.patch(path, {"status": "Sent"})
            assert sent.status_code == 200, sent.text
            payment = {"amount": 10, "date": sent.json["issueDate"], "method": "transfer"}
            paid = caller.post(f"/api/v1/invoices/{made.json['id']}/payments", payment)
            assert paid.status_code == 201, paid.text
            payments.append(paid.json["id"])
        when_all(biller, webhook, "succeeded")
    assert [taken.json["data"]["object"]["id"] for taken in there.taken] == payments[1:]

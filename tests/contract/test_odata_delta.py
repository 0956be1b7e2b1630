"""Change tracking: a copy that follows delta links is the same as what a new reading gives."""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from io import BytesIO
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import insert, update

from app.clock import utc_now
from app.db.engines import transaction
from app.models.client import Client
from app.models.event import AuditRecord
from tests.contract.conftest import Api

pytestmark = pytest.mark.both_databases

TRACK = {"Prefer": "odata.track-changes"}
NEWEST = {"OData-MaxVersion": "4.01"}


def make(api: Api, name: str, **more: Any) -> int:
    answer = api.post("/odata/Clients", {"name": name, **more})
    assert answer.status_code == 201, answer.text
    key: int = answer.json["id"]
    return key


def link_of(body: dict[str, Any], name: str = "deltaLink") -> str:
    link: str = body.get(f"@odata.{name}") or body[f"@{name}"]
    return link[link.index("/odata/") :]


def begin(api: Api, address: str = "/odata/Clients", **headers: str) -> tuple[Any, str]:
    answer = api.get(address, headers={**TRACK, **headers})
    assert answer.status_code == 200, answer.text
    assert answer.headers["Preference-Applied"] == "odata.track-changes"
    return answer.json["value"], link_of(answer.json)


def follow(api: Api, link: str, **headers: str) -> tuple[dict[int, Any], str]:
    """What changed, by key (None for what is gone), and the next link."""
    found: dict[int, Any] = {}
    while True:
        answer = api.get(link, headers={**NEWEST, **headers})
        assert answer.status_code == 200, answer.text
        body = answer.json
        assert body["@context"].endswith("/$delta")
        for row in body["value"]:
            found[row["id"]] = None if "@removed" in row else row
        if "@nextLink" not in body:
            return found, link_of(body)
        link = link_of(body, "nextLink")


def test_only_the_preference_of_that_name_asks_for_it(admin: Api) -> None:
    for other in ('note="track-changes"', "no-track-changes", "track-changes-later"):
        answer = admin.get("/odata/Clients", headers={"Prefer": other})
        assert answer.status_code == 200
        assert "deltaLink" not in answer.text and "Preference-Applied" not in answer.headers


def test_made_changed_and_deleted_records_are_told_once(admin: Api) -> None:
    kept, changed, gone = (make(admin, name) for name in ("Kept", "Old", "Gone"))
    rows, link = begin(admin)
    assert {row["id"] for row in rows} == {kept, changed, gone}
    assert follow(admin, link)[0] == {}
    made = make(admin, "Made")
    admin.patch(f"/odata/Clients({changed})", {"name": "New"})
    admin.delete(f"/odata/Clients({gone})")
    found, link = follow(admin, link)
    assert {key: row and row["name"] for key, row in found.items()} == {
        made: "Made", changed: "New", gone: None,
    }  # fmt: skip
    assert follow(admin, link)[0] == {}
    admin.patch(f"/odata/Clients({changed})", {"name": "Newer"})
    assert [row["name"] for row in follow(admin, link)[0].values()] == ["Newer"]


def test_both_versions_say_what_is_gone(admin: Api) -> None:
    key = make(admin, "Gone")
    _, link = begin(admin)
    admin.delete(f"/odata/Clients({key})")
    (row,) = admin.get(link, headers=NEWEST).json["value"]
    assert row == {"@removed": {"reason": "deleted"}, "@id": f"Clients({key})", "id": key}
    (row,) = admin.get(link).json["value"]
    assert row["@odata.context"].endswith("/odata/$metadata#Clients/$deletedEntity")
    assert row["@odata.removed"] == {"reason": "deleted"}
    assert (row["id"], row["reason"]) == (f"Clients({key})", "deleted")


def test_what_leaves_the_query_is_gone_and_what_enters_is_there(admin: Api) -> None:
    leaves, enters = make(admin, "A", industry="Steel"), make(admin, "B", industry="Wood")
    rows, link = begin(admin, "/odata/Clients?$filter=industry eq 'Steel'&$select=name")
    assert [row["name"] for row in rows] == ["A"]
    admin.patch(f"/odata/Clients({leaves})", {"industry": "Wood"})
    admin.patch(f"/odata/Clients({enters})", {"industry": "Steel"})
    answer = admin.get(link, headers=NEWEST).json
    assert answer["@context"].endswith("#Clients(id,name)/$delta")
    shown = {row["id"]: row for row in answer["value"]}
    assert shown[leaves]["@removed"] == {"reason": "changed"}
    assert {name for name in shown[enters] if "@" not in name} == {"name", "id"}


def test_a_row_that_leaves_the_view_of_the_caller_is_gone(
    admin: Api, sign_in: Callable[..., Api]
) -> None:
    article = {"title": "One", "body": "x"}
    key = admin.post("/odata/KbArticles", article).json["id"]
    hidden = admin.post("/odata/KbArticles", article).json["id"]
    for one in (key, hidden):
        admin.patch(f"/odata/KbArticles({one})", {"status": "Published"})
    viewer = sign_in("Viewer")
    rows, link = begin(viewer, "/odata/KbArticles")
    assert {row["id"] for row in rows} == {key, hidden}
    admin.patch(f"/odata/KbArticles({hidden})", {"status": "Draft"})
    found, _ = follow(viewer, link)
    assert found == {hidden: None}


def test_a_document_in_the_trash_is_gone_and_comes_back(admin: Api) -> None:
    key = admin.post("/odata/Documents", {"name": "a.txt", "fileName": "a.txt"}).json["id"]
    _, link = begin(admin, "/odata/Documents")
    admin.delete(f"/odata/Documents({key})")
    found, link = follow(admin, link)
    assert found == {key: None}
    admin.post(f"/odata/Documents({key})/BusinessPlatform.Restore")
    found, _ = follow(admin, link)
    assert found[key]["name"] == "a.txt"


def test_totals_that_follow_from_other_records_count_as_changes(admin: Api) -> None:
    key = make(admin, "ACME")
    line = {"description": "Work", "unitPrice": 10, "taxRate": 0}
    invoice = admin.post("/odata/Invoices", {"clientId": key, "LineItems": [line]}).json["id"]
    _, link = begin(admin)
    admin.post(f"/odata/Invoices({invoice})/BusinessPlatform.Send", {"markOnly": True})
    found, _ = follow(admin, link)
    assert found[key]["outstandingBalance"] == 10


def test_pages_lead_to_the_delta_link_and_changes_come_in_pages(admin: Api) -> None:
    keys = [make(admin, f"Client {number}") for number in range(7)]
    headers = {"Prefer": "odata.track-changes,odata.maxpagesize=3"}
    answer = admin.get("/odata/Clients?$orderby=name", headers=headers)
    assert "@odata.deltaLink" not in answer.json
    rows = answer.json["value"]
    while "@odata.nextLink" in answer.json:
        admin.patch(f"/odata/Clients({keys[0]})", {"name": "Meanwhile"})
        answer = admin.get(link_of(answer.json, "nextLink"), headers=headers)
        assert answer.status_code == 200, answer.text
        rows += answer.json["value"]
    assert len({row["id"] for row in rows}) == 7
    found, link = follow(admin, link_of(answer.json))
    assert found[keys[0]]["name"] == "Meanwhile"
    for key in keys:
        admin.patch(f"/odata/Clients({key})", {"industry": "Steel"})
    more = [make(admin, f"More {number}") for number in range(120)]
    first = admin.get(link, headers=NEWEST).json
    assert len(first["value"]) == 100 and "@deltaLink" not in first
    found, link = follow(admin, link)
    assert set(found) == {*keys, *more}
    make(admin, "Last")
    assert "Last" in [row["name"] for row in follow(admin, link)[0].values()]


def test_a_copy_stays_in_step(admin: Api) -> None:
    """Whatever is done, following the links gives what a new reading gives."""
    copy = {make(admin, f"Client {number}"): None for number in range(5)}
    rows, link = begin(admin, "/odata/Clients?$filter=revenue lt 50")
    copy = {row["id"]: row for row in rows}
    for step in range(12):
        keys = list(copy) or [make(admin, "Again")]
        if step % 3 == 0:
            make(admin, f"New {step}", revenue=step * 10)
        elif step % 3 == 1:
            admin.patch(f"/odata/Clients({keys[0]})", {"revenue": step * 7})
        else:
            admin.delete(f"/odata/Clients({keys[-1]})")
        found, link = follow(admin, link, **{"OData-MaxVersion": "4.01"})
        copy = {key: row for key, row in (copy | found).items() if row is not None}
        fresh = admin.get("/odata/Clients?$filter=revenue lt 50", headers=NEWEST).json["value"]
        assert {key: row["name"] for key, row in copy.items()} == {
            row["id"]: row["name"] for row in fresh
        }


def test_a_change_that_was_committed_late_is_told(admin: Api, app: Flask) -> None:
    """As by a transaction that was open when the link was made."""
    key = make(admin, "Late")
    _, link = begin(admin)
    before = utc_now() - timedelta(seconds=30)
    table: Any = Client.__table__
    with app.app_context(), transaction() as session:
        values = {"name": "Later", "version": 2, "updated_at": before}
        session.execute(update(table).where(table.c.id == key).values(values))
    found, _ = follow(admin, link)
    assert found[key]["name"] == "Later"


def test_nothing_is_missed_while_others_write(admin: Api, app: Flask) -> None:
    """Three writers at once, and a reader who follows them: at the end both know the same."""
    keys = [make(admin, f"Client {number}") for number in range(12)]
    rows, link = begin(admin)
    copy = {row["id"]: row["name"] for row in rows}

    def write(writer: int) -> None:
        api = Api(app.test_client(), admin.headers)
        for step in range(10):
            key = keys[writer * 4 + step % 4]
            if step == 9:
                assert api.delete(f"/odata/Clients({key})").status_code == 204
            else:
                body = {"name": f"Writer {writer}, step {step}"}
                assert api.patch(f"/odata/Clients({key})", body).status_code == 200
            make(api, f"New of {writer}, step {step}")

    with ThreadPoolExecutor(3) as pool:
        writers = [pool.submit(write, number) for number in range(3)]
        is_last = False
        while not is_last:
            is_last = all(one.done() for one in writers)  # then one more look is enough
            found, link = follow(admin, link)
            for key, row in found.items():
                copy.pop(key, None)
                if row is not None:
                    copy[key] = row["name"]
        for one in writers:
            one.result()
    fresh = admin.get("/odata/Clients").json["value"]
    assert copy == {row["id"]: row["name"] for row in fresh}
    assert len(copy) == 12 - 3 + 30


def test_a_right_that_was_lost_ends_the_link(admin: Api, sign_in: Callable[..., Api]) -> None:
    """Rows that did not change cannot be told as gone: the whole is read again, without them."""
    sales = sign_in("Sales")
    assert sales.post("/odata/Leads", {"lastName": "Mine"}).status_code == 201
    _, link = begin(sales, "/odata/Leads")
    me = sales.get("/api/auth/me").json["id"]
    assert admin.patch(f"/api/admin/users/{me}", {"roles": ["Support"]}).status_code == 200
    answer = sales.get(link)
    assert (answer.status_code, answer.json["error"]["code"]) == (410, "GONE")
    _, link = begin(sales, "/odata/Leads")
    assert admin.patch(f"/api/admin/users/{me}", {"roles": ["Accountant"]}).status_code == 200
    assert sales.get(link).status_code in (403, 410)
    assert sales.get("/odata/Leads", headers=TRACK).status_code == 403


# --- what cannot be tracked, and links that do not lead on ---------------------------------------


@pytest.mark.parametrize(
    "address",
    ["/odata/Users", "/odata/Clients(1)", "/odata/Clients?$top=1", "/odata/Clients/$count",
     "/odata/Clients?$apply=aggregate($count as n)", "/odata/Clients(1)/Contacts"],
)  # fmt: skip
def test_what_is_not_tracked_is_answered_as_ever(admin: Api, address: str) -> None:
    make(admin, "ACME")
    answer = admin.get(address, headers=TRACK)
    assert answer.status_code == 200
    assert "deltaLink" not in answer.text and "Preference-Applied" not in answer.headers


def test_tokens_are_for_one_query_and_one_caller(admin: Api, sign_in: Callable[..., Api]) -> None:
    make(admin, "ACME")
    _, link = begin(admin)
    for wrong in (
        # Of the last character some bits are of no byte.
        link[:-6] + ("A" if link[-6] != "A" else "B") + link[-5:],
        link.replace("/Clients?", "/Contacts?"),
        link.replace("?", "?$filter=revenue gt 5&"),
        re.sub("deltatoken=.*", "deltatoken=", link),
        re.sub("deltatoken=.*", "deltatoken=abc", link),
        re.sub("deltatoken=.*", "deltatoken=%ff", link),
        link + "&" + link.partition("?")[2],
    ):
        answer = admin.get(wrong)
        assert answer.status_code == 400, wrong
        assert answer.json["error"]["code"] == "INVALID_QUERY"
    answer = sign_in("Manager").get(link)
    assert (answer.status_code, answer.json["error"]["code"]) == (410, "GONE")


def test_an_old_link_is_gone(admin: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    _, link = begin(admin)
    monkeypatch.setattr("app.odata.tracking.KEPT", timedelta(seconds=-1))
    answer = admin.get(link)
    assert (answer.status_code, answer.json["error"]["code"]) == (410, "GONE")


def imported(app: Flask) -> None:
    with app.app_context(), transaction() as session:
        record = {"created_at": utc_now(), "via": "cli", "action": "import.completed"}
        session.execute(insert(AuditRecord).values(record))


def test_an_import_ends_a_link_and_one_taken_after_it_is_good_at_once(
    admin: Api, app: Flask
) -> None:
    _, before = begin(admin)
    imported(app)
    assert admin.get(before).status_code == 410
    _, link = begin(admin)
    make(admin, "ACME")
    for _ in range(2):
        found, link = follow(admin, link)
    assert found == {}
    # Also of one that comes in pages.
    _, link = begin(admin)
    keys = [make(admin, f"Client {number}") for number in range(102)]
    found, link = follow(admin, link)
    assert set(found) == set(keys)
    assert set(keys) <= set(follow(admin, link)[0])  # told again, and not refused
    imported(app)
    assert admin.get(link).status_code == 410


def test_an_import_by_a_request_is_followed(admin: Api) -> None:
    _, link = begin(admin)
    form = {"file": (BytesIO(b"name\nACME\n"), "clients.csv"), "type": "client"}
    answer = admin.client.post("/api/v1/crm/import", data=form, headers=admin.headers)
    assert answer.json["created"] == 1
    found, _ = follow(admin, link)
    assert [row["name"] for row in found.values()] == ["ACME"]


@pytest.mark.requirement("SEC-42", "SEC-44")
@pytest.mark.parametrize("scope", ["own", "published"])
@pytest.mark.parametrize("ending", ["changed", "deleted"])
def test_only_what_could_be_read_is_told_to_be_gone(
    admin: Api, sign_in: Callable[..., Api], scope: str, ending: str
) -> None:
    admin.post("/api/admin/roles", {"name": "Narrow", "permissions": {"kb:read": scope}})
    reader = sign_in("Narrow")
    me = reader.get("/api/auth/me").json["id"]
    shown = {"own": {"ownerId": me}, "published": {"status": "Published"}}[scope]
    other = admin.get("/api/auth/me").json["id"]
    hidden = {"own": {"ownerId": other}, "published": {"status": "Draft"}}[scope]

    def article(**values: Any) -> str:
        made = admin.post("/odata/KbArticles", {"title": "One", "body": "x", **values})
        assert made.status_code == 201, made.text
        return f"/odata/KbArticles({made.json['id']})"

    never, once, between, lost = article(), article(**shown), article(), article(**shown)
    rows, link = begin(reader, "/odata/KbArticles")
    assert len(rows) == 2
    late = article()
    for path, values in (
        (never, {"body": "Changed."}), (late, {"body": "Changed."}), (between, shown),
        (between, hidden), (once, hidden), (lost, hidden), (lost, {"body": "Changed."}),
    ):  # fmt: skip
        assert admin.patch(path, values).status_code == 200
    if ending == "deleted":
        for path in (never, late, between, once, lost):
            assert admin.delete(path).status_code == 204
    found, _ = follow(reader, link)
    keys = {path: int(path.partition("(")[2].rstrip(")")) for path in (once, between, lost)}
    assert found == dict.fromkeys(keys.values())


def test_the_metadata_says_what_is_tracked(admin: Api) -> None:
    sets = admin.get("/odata/$metadata?$format=json").json["BusinessPlatform"]["Default"]
    term = "@Org.OData.Capabilities.V1.ChangeTracking"
    for name, declared in sets.items():
        if isinstance(declared, dict) and declared.get("$Collection"):
            tracked = admin.get(f"/odata/{name}", headers=TRACK)
            assert ("deltaLink" in tracked.text) == declared[term]["Supported"], name


@pytest.mark.parametrize(
    "path",
    ["Clients({key})", "Clients({key})/Contacts", "Clients({key})/name", "Clients/$count", "Me",
     "$entity?$id=Clients({key})", "Clients?$top=1", "$all", "$crossjoin(Clients,Leads)"],
)  # fmt: skip
def test_what_is_not_tracked_takes_no_token_however_often_it_was_read(
    admin: Api, path: str
) -> None:
    address = f"/odata/{path.format(key=make(admin, 'ACME'))}"
    asked = f"{address}{'&' if '?' in path else '?'}$deltatoken=abc"
    statuses = [admin.get(each).status_code for each in (asked, address, asked, address, asked)]
    assert statuses[1] == statuses[3] == 200
    assert len({*statuses[::2]}) == 1 and statuses[0] in (400, 501), statuses

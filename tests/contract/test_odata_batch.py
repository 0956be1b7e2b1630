"""``$batch`` in both forms: order, atomicity, references, limits, rights."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.models.client import Client
from app.models.event import AuditRecord, Event
from tests.contract.batches import (
    Answered,
    AnsweredSet,
    change_set,
    multipart,
    post,
    request,
    send,
    send_json,
)
from tests.contract.conftest import Api


def rows(session: Session, model: Any) -> int:
    session.rollback()
    return session.scalar(select(func.count()).select_from(model)) or 0


def make(api: Api, name: str = "ACME", **more: Any) -> int:
    answer = api.post("/odata/Clients", {"name": name, **more})
    assert answer.status_code == 201, answer.text
    key: int = answer.json["id"]
    return key


# --- multipart ------------------------------------------------------------------------------------


def test_requests_are_answered_in_order_with_status_headers_and_body(admin: Api) -> None:
    key = make(admin)
    found = send(
        admin,
        request("GET", f"Clients({key})?$select=name"),
        request("GET", f"/odata/Clients({key})/name/$value"),
        request("GET", "http://localhost/odata/Clients/$count"),
        request("GET", f"/odata/v1/Clients({key})/email", Host="localhost"),
        request("GET", "$metadata"),
        request("GET", "Clients?$filter=name eq 'ACME'&$select=name"),
    )
    assert [one.status for one in found] == [200, 200, 200, 204, 200, 200]
    assert found[0].json["name"] == "ACME"
    assert found[0].headers["etag"] == 'W/"1"'
    assert found[0].headers["odata-version"] == "4.0"
    assert (found[1].text, found[2].text) == ("ACME", "1")
    assert found[4].headers["content-type"] == "application/xml"
    assert found[5].json["value"][0]["name"] == "ACME"


def test_a_batch_says_its_version(admin: Api) -> None:
    answer = post(admin, multipart(request("GET", "Clients")), {"OData-MaxVersion": "4.01"})
    assert answer.headers["OData-Version"] == "4.01"
    assert '"@context"' in answer.text and "OData-Version: 4.01" in answer.text
    answer = post(
        admin,
        multipart(request("GET", "Clients", OData_MaxVersion="4.0")),
        {"OData-MaxVersion": "4.01"},
    )
    assert '"@odata.context"' in answer.text and "OData-Version: 4.0\r" in answer.text


def test_a_change_set_is_done_whole_with_its_content_ids(admin: Api, session: Session) -> None:
    key, gone = make(admin), make(admin, "Gone")
    (done,) = send(
        admin,
        change_set(
            request("POST", "Clients", {"name": "Globex"}, content_id="1"),
            request("PATCH", f"Clients({key})", {"name": "Changed"}, content_id="2"),
            request("DELETE", f"Clients({gone})", content_id="3"),
        ),
    )
    assert isinstance(done, AnsweredSet)
    assert [(one.status, one.content_id) for one in done.answers] == [
        (201, "1"), (200, "2"), (204, "3"),
    ]  # fmt: skip
    assert done.answers[0].headers["location"].endswith(f"/odata/Clients({gone + 1})")
    assert rows(session, Client) == 2


def test_a_change_set_that_fails_leaves_nothing(admin: Api, session: Session) -> None:
    before = [rows(session, model) for model in (Client, AuditRecord, Event)]
    (failed,) = send(
        admin,
        change_set(
            request("POST", "Clients", {"name": "Half"}, content_id="1"),
            request("POST", "Clients", {"nmae": "wrong"}, content_id="2"),
            request("POST", "Clients", {"name": "Never"}, content_id="3"),
        ),
    )
    assert isinstance(failed, Answered)
    assert failed.status == 400
    assert failed.json["error"]["details"][0]["target"] == "nmae"
    assert [rows(session, model) for model in (Client, AuditRecord, Event)] == before


def test_a_number_of_a_failed_change_set_is_given_again(admin: Api) -> None:
    first = admin.post("/odata/Clients", {"name": "One"}).json["number"]
    send(
        admin,
        change_set(
            request("POST", "Clients", {"name": "Lost"}),
            request("DELETE", "Clients(999999)"),
        ),
    )
    found = send(admin, request("POST", "Clients", {"name": "Two"}))
    assert (first, found[0].json["number"]) == ("C-000001", "C-000002")


def test_what_was_done_before_a_failure_stays(admin: Api, session: Session) -> None:
    found = send(
        admin,
        request("POST", "Clients", {"name": "Kept"}),
        request("PATCH", "Clients(999999)", {"name": "x"}),
        request("POST", "Clients", {"name": "Not tried"}),
    )
    assert [one.status for one in found] == [201, 404]
    session.rollback()
    assert session.scalars(select(Client.name)).all() == ["Kept"]


@pytest.mark.parametrize("spelling", ["continue-on-error", "odata.continue-on-error=true"])
def test_a_batch_goes_on_when_it_is_asked_to(admin: Api, spelling: str) -> None:
    parts = [
        request("GET", "Clients(999999)"),
        change_set(request("POST", "Clients", {"name": 5})),
        request("POST", "Clients", {"name": "Kept"}),
        request("GET", "Clients/$count"),
    ]
    found = send(admin, *parts, Prefer=spelling)
    assert [one.status for one in found] == [404, 400, 201, 200]
    assert found[3].text == "1"
    assert [one.status for one in send(admin, *parts)] == [404]
    answer = post(admin, multipart(*parts), {"Prefer": spelling})
    assert answer.headers["Preference-Applied"] == spelling


def test_later_requests_point_at_what_was_made(admin: Api) -> None:
    found = send(
        admin,
        change_set(
            request("POST", "Clients", {"name": "New"}, content_id="1"),
            request("POST", "$1/Contacts", {"lastName": "Below"}, content_id="2"),
            request(
                "POST", "Contacts", {"lastName": "Bound", "Client@odata.bind": "$1"},
                content_id="3",
            ),
            request("PATCH", "$1", {"industry": "Steel"}, content_id="4"),
        ),
        request("GET", "$1/Contacts?$orderby=id&$select=lastName"),
        request("GET", "$2/Client?$select=industry"),
    )  # fmt: skip
    assert [one.status for one in found[0].answers] == [201, 201, 201, 200]
    names = [one["lastName"] for one in found[1].json["value"]]
    assert names == ["Below", "Bound"]
    assert found[2].json["industry"] == "Steel"


def test_a_tag_and_a_value_of_an_earlier_answer_are_used(admin: Api) -> None:
    key = make(admin, "O'Neil & Söhne", industry="Steel")
    make(admin, "Other", industry="Steel")
    make(admin, "Wood", industry="Wood")
    found = send(
        admin,
        request("GET", f"Clients({key})?$select=industry,name,createdAt,id", content_id="a"),
        request("PATCH", f"Clients({key})", {"name": "x"}, If_Match="$a"),
        request("PATCH", f"Clients({key})", {"name": "y"}, If_Match="$a"),
        Prefer="continue-on-error",
    )
    assert [one.status for one in found] == [200, 200, 412]
    for option, expected in (
        ("industry eq $a/industry", 2),
        ("id eq $a/id and createdAt le $a/createdAt", 1),
        ("name eq '$a/name'", 0),
    ):
        first = request("GET", f"Clients({key})", content_id="a")
        count = send(admin, first, request("GET", f"Clients/$count?$filter={option}"))[1]
        assert (count.status, count.text) == (200, str(expected)), option


def test_a_reference_to_nothing_is_the_mistake_of_its_request(admin: Api) -> None:
    found = send(
        admin,
        request("POST", "$7/Contacts", {"lastName": "x"}),
        request("GET", "Clients(999999)", content_id="8"),
        request("POST", "$8/Contacts", {"lastName": "x"}),
        request("PATCH", "Clients(1)", {"name": "x"}, If_Match="$9"),
        Prefer="continue-on-error",
    )
    assert [one.status for one in found] == [400, 404, 424, 400]


@pytest.mark.requirement("SEC-51")
def test_addresses_of_other_services_are_refused(admin: Api) -> None:
    urls = [
        "http://evil.example/odata/Clients", "https://localhost@evil.example/odata/Clients",
        "/api/v1/auth/me", "/odata", "//evil.example/odata/Clients", "ftp://localhost/odata/Clients",
        "$batch", "/odata/%24batch", "Clients(%00)", "Clients/%ff",
        "http://localhost/odata/$batch", "Clients#x", "/odata/../api",
    ]  # fmt: skip
    found = send(admin, *(request("POST", url, {}) for url in urls), Prefer="continue-on-error")
    assert [one.status for one in found] == [400, 400, 400, 405, *[400] * 9]
    (host,) = send(admin, request("GET", "/odata/Clients", Host="evil.example"))
    assert host.status == 400


@pytest.mark.parametrize(
    "body",
    [
        "",
        "garbage",
        multipart(request("GET", "Clients"), boundary="other"),
        multipart("INVALID CONTENT"),
        multipart("Content-Type: text/plain\r\n\r\nGET Clients HTTP/1.1\r\n\r\n"),
        multipart("Content-Type: application/http\r\n\r\n"),
        multipart("Content-Type: application/http\r\n\r\nGET\r\n\r\n"),
        multipart(request("GET", "Clients").replace("binary", "base64")),
        multipart(request("GET", "Clients"))[:-6],
        multipart("Content-Type: multipart/mixed\r\n\r\n--a\r\n--a--"),
        multipart(change_set(request("GET", "Clients"))),
        multipart(change_set(change_set(request("POST", "Clients", {}), boundary="inner"))),
        multipart(request("GET", "Clients", Transfer_Encoding="chunked")),
        multipart(request("GET", "Clients", content_id="a b")),
        multipart(*[request("GET", "Clients", content_id="same")] * 2),
        multipart(change_set(*[request("POST", "Clients", {}, content_id="same")] * 2)),
    ],
)  # fmt: skip
def test_what_is_malformed_is_refused_whole(admin: Api, session: Session, body: str) -> None:
    first = request("POST", "Clients", {"name": "Never"})
    for whole in (body, body.replace("--batch_1\r\n", f"--batch_1\r\n{first}\r\n--batch_1\r\n", 1)):
        answer = post(admin, whole)
        assert answer.status_code == 400, answer.text
        assert answer.json["error"]["code"] == "VALIDATION_ERROR"
    assert rows(session, Client) == 0


def test_the_place_of_what_is_malformed_is_told(admin: Api) -> None:
    body = multipart(request("GET", "Clients"), "no header")
    error = post(admin, body).json["error"]
    assert error["position"] == body.index("no header")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Content-Type": "multipart/mixed"}, 400),
        ({"Content-Type": "multipart/mixed; boundary=" + "x" * 100}, 400),
        ({"Content-Type": "text/plain"}, 415),
        ({"Content-Type": ""}, 415),
        ({"Content-Encoding": "gzip"}, 415),
        ({"OData-Version": "3.0"}, 400),
        ({"OData-MaxVersion": "2.0"}, 400),
    ],
)
def test_headers_that_do_not_fit_are_refused(
    admin: Api, headers: dict[str, str], status: int
) -> None:
    assert post(admin, multipart(request("GET", "Clients")), headers).status_code == status


def test_only_post_and_no_options(admin: Api) -> None:
    assert admin.get("/odata/$batch").status_code == 405
    assert admin.delete("/odata/$batch").headers["Allow"] == "POST"
    body = multipart(request("GET", "Clients")).encode()
    kind = {**admin.headers, "Content-Type": "multipart/mixed; boundary=batch_1"}
    answer = admin.client.post("/odata/$batch?$top=1", data=body, headers=kind)
    assert answer.status_code == 400


def test_lines_may_end_with_a_line_feed_and_spare_blank_lines_are_skipped(admin: Api) -> None:
    body = (
        "a preamble\n--batch_1\nContent-Type: application/http\n\n\nPOST Clients HTTP/1.1\n"
        'Content-Type: application/json\nContent-Length: 3\n\n\n{"name": "ACME Ä"}\n\n'
        "--batch_1\ncontent-type:application/http\n\nGET Clients?$filter=name eq 'ACME Ä'"
        "&$select=name\n\n--batch_1--\nan epilogue"
    )
    answer = post(admin, body.encode())
    assert answer.status_code == 200
    assert answer.text.count('"name":"ACME Ä"') == 2


# --- JSON -----------------------------------------------------------------------------------------


def one(name: str, method: str, url: str, body: Any = None, **more: Any) -> dict[str, Any]:
    members = {} if body is None else {"body": body}
    headers = {"content-type": "application/json"} if body is not None else {}
    return {"id": name, "method": method, "url": url, "headers": headers, **members, **more}


def test_json_requests_are_answered_once_each(admin: Api) -> None:
    key = make(admin)
    found = send_json(
        admin,
        one("r1", "get", f"Clients({key})"),
        one("r2", "POST", "/odata/Clients", {"name": "Globex", "revenue": 10.50}),
        one("r3", "patch", f"http://localhost/odata/Clients({key})", {"name": "Changed"}),
        one("r4", "get", "Clients/$count"),
        one("r5", "delete", f"Clients({key})"),
        {"id": "r6", "method": "put", "url": "$r2/industry", "body": {"value": "Steel"},
         "dependsOn": ["r2"]},
    )  # fmt: skip
    assert {name: item["status"] for name, item in found.items()} == {
        "r1": 200, "r2": 201, "r3": 200, "r4": 200, "r5": 204, "r6": 204,
    }  # fmt: skip
    assert found["r2"]["body"]["name"] == "Globex"
    assert all(name == name.lower() for item in found.values() for name in item["headers"])
    assert found["r2"]["headers"]["location"].endswith(f"Clients({key + 1})")
    assert found["r4"]["body"] == "2"
    assert "body" not in found["r5"]


def test_json_money_stays_exact(admin: Api) -> None:
    answer = admin.post(
        "/odata/$batch",
        {"requests": [one("1", "post", "Clients", {"name": "Exact", "revenue": 0.1})]},
    )
    assert '"revenue":0.10,' in answer.text


def test_json_groups_are_done_whole_or_not_at_all(admin: Api, session: Session) -> None:
    found = send_json(
        admin,
        one("1", "post", "Clients", {"name": "Alone"}),
        one("2", "post", "Clients", {"name": "Together"}, atomicityGroup="g"),
        one("3", "delete", "Clients(999999)", atomicityGroup="g"),
        one("4", "post", "Clients", {"name": "Never"}, atomicityGroup="g"),
        one("5", "get", "Clients", dependsOn=["g"]),
        one("6", "get", "Clients", dependsOn=["2"]),
        one("7", "get", "Clients/$count"),
    )
    assert {name: item["status"] for name, item in found.items()} == {
        "1": 201, "2": 424, "3": 404, "4": 424, "5": 424, "6": 424, "7": 200,
    }  # fmt: skip
    assert [found[name].get("atomicityGroup") for name in "1234"] == [None, "g", "g", "g"]
    assert found["7"]["body"] == "1"
    assert rows(session, Client) == 1
    done = send_json(
        admin,
        one("2", "post", "Clients", {"name": "Together"}, atomicityGroup="g"),
        one("3", "post", "$2/Contacts", {"lastName": "Too"}, atomicityGroup="g", dependsOn=["2"]),
        one("4", "get", "$2/Contacts/$count", dependsOn=["g"]),
    )
    assert [item["status"] for item in done.values()] == [201, 201, 200]
    assert done["4"]["body"] == "1"


def test_json_goes_on_unless_told_otherwise(admin: Api) -> None:
    requests = (
        one("1", "get", "Clients(999999)"),
        one("2", "get", "Clients", dependsOn=["1"]),
        one("3", "get", "Clients"),
    )
    assert {n: r["status"] for n, r in send_json(admin, *requests).items()} == {
        "1": 404, "2": 424, "3": 200,
    }  # fmt: skip
    stopped = send_json(admin, *requests, Prefer="continue-on-error=false")
    assert {name: item["status"] for name, item in stopped.items()} == {"1": 404, "2": 424}


@pytest.mark.parametrize(
    ("condition", "status"),
    [
        ("$1/$succeeded", 200),
        ("not $1/$succeeded", 424),
        ("$2/$succeeded or $1/name eq 'ACME'", 200),
        ("$1/revenue gt 5 and $1/industry eq null", 200),
        ("$1/name in ('x','y')", 424),
        ("'$1/$succeeded' eq 'x'", 424),
        ("$1/name", 400),
        ("$1/nothing eq 1", 400),
        ("length('x') eq 1", 400),
        ("$1/name gt 5", 400),
        ("((", 400),
    ],
)
def test_a_condition_decides(admin: Api, condition: str, status: int) -> None:
    key = make(admin, revenue=10)
    found = send_json(
        admin,
        one("1", "get", f"Clients({key})"),
        one("2", "get", "Clients(999999)"),
        {**one("3", "get", "Clients", dependsOn=["1", "2"]), "if": condition},
    )
    assert found["3"]["status"] == status, found["3"]


def test_values_are_taken_into_bodies_where_they_are_depended_on(admin: Api) -> None:
    key = make(admin, "ACME", industry="Steel", revenue=12.34)
    found = send_json(
        admin,
        one("1", "get", f"Clients({key})"),
        one("2", "post", "Clients", {"name": "$1/industry", "revenue": "$1/revenue"},
            dependsOn=["1"]),
        one("3", "post", "Clients", {"name": "$1/industry"}),
        one("4", "post", "Clients", {"name": "$1/nothing"}, dependsOn=["1"]),
        one("5", "get", "Clients?$filter=industry eq $1/industry", dependsOn=["1"]),
    )  # fmt: skip
    assert found["2"]["body"]["name"] == "Steel"
    assert found["2"]["body"]["revenue"] == Decimal("12.34")
    assert found["3"]["body"]["name"] == "$1/industry"
    assert found["4"]["status"] == 400
    assert len(found["5"]["body"]["value"]) == 1


@pytest.mark.requirement("SEC-115")
@pytest.mark.parametrize(
    ("requests", "field"),
    [
        (None, "requests"),
        ({}, "requests"),
        (["x"], "requests[0]"),
        ([{}], "requests[0].id"),
        ([one("", "get", "x")], "requests[0].id"),
        ([{"id": 1, "method": "get", "url": "x"}], "requests[0].id"),
        ([one("1", "merge", "x")], "requests[0].method"),
        ([one("1", "get", "")], "requests[0].url"),
        ([one("1", "get", "x", header={})], "requests[0].header"),
        ([one("1", "get", "x"), one("1", "get", "x")], "requests[1].id"),
        ([one("1", "get", "x", dependsOn=["2"]), one("2", "get", "x")], "requests[0].dependsOn[0]"),
        ([one("1", "get", "x", dependsOn=["1"])], "requests[0].dependsOn[0]"),
        ([one("1", "get", "x", dependsOn="1")], "requests[0].dependsOn"),
        ([one("1", "get", "x", atomicityGroup="g"), one("2", "get", "x"),
          one("3", "get", "x", atomicityGroup="g")], "requests[2].atomicityGroup"),
        ([one("g", "get", "x"), one("2", "get", "x", atomicityGroup="g")],
         "requests[1].atomicityGroup"),
        ([one("1", "get", "x", atomicityGroup="g"), one("g", "get", "x")], "requests[1].id"),
        ([{**one("1", "get", "x"), "headers": {"a": 1}}], "requests[0].headers.a"),
        ([{**one("1", "get", "x"), "headers": {"a": "b\r\nc: d"}}], "requests[0].headers.a"),
        ([one("1", "get", "x", {})], "requests[0].body"),
        ([{**one("1", "post", "x"), "headers": {"content-type": "image/png"}, "body": "?"}],
         "requests[0].body"),
        ([{**one("1", "get", "x"), "if": 5}], "requests[0].if"),
    ],
)  # fmt: skip
def test_a_json_batch_that_is_wrong_is_refused_whole(admin: Api, requests: Any, field: str) -> None:
    body = {} if requests is None else {"requests": requests}
    answer = admin.post("/odata/$batch", body)
    assert answer.status_code == 400, answer.text
    assert answer.json["error"]["details"][0]["target"] == field


def test_an_empty_json_batch_has_no_answers(admin: Api) -> None:
    assert admin.post("/odata/$batch", {"requests": []}).json == {"responses": []}


def test_json_batches_are_of_version_4_01(admin: Api) -> None:
    body = {"requests": [one("1", "get", "Clients")]}
    for version, status in (("4.0", 400), ("4.01", 200)):
        answer = admin.post("/odata/$batch", body, headers={"OData-MaxVersion": version})
        assert answer.status_code == status


def test_a_json_batch_can_be_answered_as_multipart(admin: Api) -> None:
    answer = admin.post(
        "/odata/$batch",
        {"requests": [one("1", "get", "Clients")]},
        headers={"Accept": "multipart/mixed"},
    )
    assert answer.mimetype == "multipart/mixed"
    assert "Content-ID: 1" in answer.text


# --- limits and rights ----------------------------------------------------------------------------


@pytest.mark.requirement("SEC-115")
def test_no_more_requests_than_the_limit(admin: Api) -> None:
    part = request("GET", "Clients/$count")
    assert len(send(admin, *[part] * 100)) == 100
    for count in (101, 10_000):
        assert post(admin, multipart(*["x"] * count)).status_code == 413
        requests = [{"id": str(number)} for number in range(count)]
        assert admin.post("/odata/$batch", {"requests": requests}).status_code == 413
    in_sets = [
        change_set(*[request("POST", "Clients", {})] * 60, boundary=f"set_{number}")
        for number in range(2)
    ]
    assert post(admin, multipart(*in_sets)).status_code == 413


def test_every_request_of_a_batch_counts(
    make_app: Callable[..., Flask], sign_in: Callable[..., Api]
) -> None:
    api = sign_in("Manager", make_app(RATE_LIMIT_USER="20/minute"))
    left = int(api.get("/odata/Clients/$count").headers["RateLimit-Remaining"])
    part = request("GET", "Clients/$count")
    answer = post(api, multipart(*[part] * 5))
    assert answer.status_code == 200
    assert int(answer.headers["RateLimit-Remaining"]) == left - 5
    answer = post(api, multipart(*[part] * 50))
    assert answer.status_code == 429
    assert int(answer.headers["Retry-After"]) > 0


@pytest.mark.requirement("SEC-51")
def test_each_request_has_the_rights_of_the_caller(
    sign_in: Callable[..., Api], session: Session
) -> None:
    viewer = sign_in("Viewer")
    found = send(
        viewer,
        request("GET", "Clients"),
        request("POST", "Clients", {"name": "x"}),
        request("GET", "Clients"),
        Prefer="continue-on-error",
    )
    assert [one.status for one in found] == [200, 403, 200]
    session.rollback()
    denied = session.scalars(select(AuditRecord).where(AuditRecord.action == "access.denied")).one()
    assert denied.after["path"] == "Clients"
    assert rows(session, Client) == 0

"""``$batch`` as JSON: groups, conditions, dependencies, values taken from earlier answers."""

from __future__ import annotations

import base64
from decimal import Decimal
from io import BytesIO
from typing import Any

import pytest
from sqlalchemy.orm import Session

from app.models.client import Client
from tests.contract.batches import change_set, multipart, post, request, send_json
from tests.contract.conftest import Api
from tests.contract.records import count_rows, make

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b55"
    "0000000a49444154789c6360000000020001e221bc330000000049454e44ae426082"
)


def one(name: str, method: str, url: str, body: Any = None, **more: Any) -> dict[str, Any]:
    members = {} if body is None else {"body": body}
    headers = {"content-type": "application/json"} if body is not None else {}
    return {"id": name, "method": method, "url": url, "headers": headers, **members, **more}


def test_json_requests_are_answered_once_each(admin: Api) -> None:
    key = make(admin, "Clients", name="ACME")
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


def test_what_has_no_body_has_no_type(admin: Api) -> None:
    key = make(admin, "Clients", name="ACME")
    tag = admin.get(f"/odata/Clients({key})").headers["ETag"]
    found = send_json(
        admin,
        one("null", "get", f"Clients({key})/email"),
        {**one("known", "get", f"Clients({key})"), "headers": {"if-none-match": tag}},
        one("gone", "delete", f"Clients({key})"),
    )
    told = [(item["status"], "content-type" in item["headers"]) for item in found.values()]
    assert told == [(204, False), (304, False), (204, False)]


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
    assert count_rows(session, Client) == 1
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
        ("$1/name ne 'x'", 200),
        ("$1/doNotContact eq false", 200),
        ("$1/doNotContact eq null", 424),
        ("$1/name eq 5", 400),
        ("$1/industry gt 'a'", 424),
        ("$1/billingAddress/city eq 'Ulm'", 200),
        ("$1/createdAt gt 2020-01-01 and 2020-01-01 lt $1/createdAt", 200),
        ("$1/createdAt eq 2020-01-01", 424),
        ("$1/createdAt lt 2020-01-01", 424),
        ("2020-01-01 eq 2020-01-01T10:00:00Z and 2020-01-01 ne 2020-01-02T00:00:00Z", 200),
        ("$1/tags eq 'x'", 400),
        ("$1/billingAddress eq null", 400),
        ("$1/revenue add 1 eq 11", 200),
        ("$1/revenue divby 4 eq 2.5 and not ($1/industry gt 'a')", 200),
        ("contains(tolower($1/name),'cm') and length($1/name) eq 4", 200),
        ("year($1/createdAt) ge 2026 and $1/createdAt le now()", 200),
        ("$1/legalName eq 'A & B + 50% #1'", 200),
        ("$3/priority gt 'Normal' and $3/priority ne 'Low'", 200),
        ("$3/priority lt 'High'", 424),
        ("case($2/$succeeded:1,true:2) eq 2", 200),
        ("$root/Clients/$count gt 0", 200),
        ("$1/name", 400),
        ("name eq 'ACME'", 400),
        ("$7/$succeeded", 400),
        ("$1/id add 9223372036854775807 gt 1", 400),
        ("$1/nothing eq 1", 400),
        ("nothing('x') eq 1", 400),
        ("$1/name gt 5", 400),
        ("((", 400),
    ],
)
def test_a_condition_decides(admin: Api, condition: str, status: int) -> None:
    client = {"revenue": 10, "billingAddress": {"city": "Ulm"}, "legalName": "A & B + 50% #1"}
    key = make(admin, "Clients", name="ACME", **client)
    ticket = make(admin, "Tickets", subject="x", priority="Urgent")
    found = send_json(
        admin,
        one("1", "get", f"Clients({key})"),
        one("2", "get", "Clients(999999)"),
        one("3", "get", f"Tickets({ticket})"),
        {**one("4", "get", "Clients", dependsOn=["1", "2", "3"]), "if": condition},
    )
    assert found["4"]["status"] == status, found["4"]


def test_values_are_taken_into_bodies_where_they_are_depended_on(admin: Api) -> None:
    key = make(admin, "Clients", name="ACME", industry="Steel", revenue=12.34)
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


def test_values_are_taken_from_wherever_they_stand_in_an_answer(admin: Api) -> None:
    key = make(admin, "Clients", name="ACME", tags=["vip"], industry="Steel & Co")
    contact = make(admin, "Contacts", lastName="Roth", clientId=key)
    expanded = f"Contacts({contact})?$expand=Client"
    found = send_json(
        admin,
        one("1", "get", f"Clients({key})/name"),
        one("2", "get", expanded),
        one("3", "post", "Clients",
            {"name": "$1/value", "tags": ["$2/lastName", "$5/x", "plain"]}, dependsOn=["1", "2"]),
        one("4", "get", "Clients?$filter=industry eq $2/Client/industry and "
            "createdAt le $2/Client/createdAt", dependsOn=["2"]),
        one("5", "get", "Clients?$filter=name eq $2/Client", dependsOn=["2"]),
        one("6", "get", f"Clients({key})/name/$value"),
        one("7", "post", "Clients", {"name": "$6/name"}, dependsOn=["6"]),
        one("8", "get", "Clients?$filter=name eq $1&$orderby=id&$top=1", dependsOn=["1"]),
    )  # fmt: skip
    made = found["3"]["body"]
    assert (made["name"], made["tags"]) == ("ACME", ["Roth", "$5/x", "plain"])
    for name in ("4", "8"):
        assert [row["id"] for row in found[name]["body"]["value"]] == [key]
    assert (found["5"]["status"], found["7"]["status"]) == (400, 400)


def test_an_answer_without_a_tag_lends_none(admin: Api) -> None:
    key = make(admin, "Clients", name="ACME")
    change = one("2", "patch", f"Clients({key})", {"name": "x"}, dependsOn=["1"])
    change["headers"]["if-match"] = "$1"
    found = send_json(admin, one("1", "get", "Clients/$count"), change)
    assert found["2"]["status"] == 412
    assert admin.get(f"/odata/Clients({key})").json["name"] == "ACME"


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
        ([one("1", "get", "x"), one("1", "get", "x")], "requests[1].id"),
        ([one("1", "get", "x", dependsOn=["2"]), one("2", "get", "x")], "requests[0].dependsOn[0]"),
        ([one("1", "get", "x", dependsOn=["1"])], "requests[0].dependsOn[0]"),
        ([one("1", "get", "x", dependsOn="1")], "requests[0].dependsOn"),
        ([one("1", "get", "x", atomicityGroup="g"), one("2", "get", "x"),
          one("3", "get", "x", atomicityGroup="g")], "requests[2].atomicityGroup"),
        ([one("g", "get", "x"), one("2", "get", "x", atomicityGroup="g")],
         "requests[1].atomicityGroup"),
        ([one("1", "get", "x", atomicityGroup="g"), one("g", "get", "x")], "requests[1].id"),
    ],
)  # fmt: skip
def test_a_json_batch_that_is_wrong_is_refused_whole(admin: Api, requests: Any, field: str) -> None:
    body = {} if requests is None else {"requests": requests}
    answer = admin.post("/odata/$batch", body)
    assert answer.status_code == 400, answer.text
    assert answer.json["error"]["details"][0]["target"] == field


# Requests that cannot be tried, each with the member that says why.
UNREADABLE = [
    ({"method": "merge", "url": "x"}, "method"),
    ({"url": "x"}, "method"),
    ({"method": "get", "url": ""}, "url"),
    ({"method": "get"}, "url"),
    ({"method": "get", "url": "x", "header": {}}, "header"),
    ({"method": "get", "url": "x", "headers": {"a": 1}}, "headers.a"),
    ({"method": "get", "url": "x", "headers": {"a": "b\r\nc: d"}}, "headers.a"),
    ({"method": "get", "url": "x", "headers": []}, "headers"),
    ({"method": "get", "url": "x", "body": {}}, "body"),
    ({"method": "post", "url": "x", "headers": {"content-type": "image/png"}, "body": "?"}, "body"),
    ({"method": "get", "url": "x", "if": 5}, "if"),
]


@pytest.mark.parametrize(("wrong", "member"), UNREADABLE)
def test_a_request_that_is_wrong_is_answered_in_its_place(
    admin: Api, session: Session, wrong: dict[str, Any], member: str
) -> None:
    new = {"name": "New"}
    found = send_json(
        admin,
        one("1", "post", "Clients", new),
        {"id": "2", **wrong},
        one("3", "post", "Clients", new, dependsOn=["2"]),
        one("4", "post", "Clients", new, atomicityGroup="g"),
        {"id": "5", "atomicityGroup": "g", **wrong},
        one("6", "get", "Clients/$count"),
    )
    assert [item["status"] for item in found.values()] == [201, 400, 424, 424, 400, 200]
    for name, place in (("2", 1), ("5", 4)):
        error = found[name]["body"]["error"]
        assert error["details"][0]["target"] == f"requests[{place}].{member}"
    assert count_rows(session, Client) == 1


def test_a_multipart_batch_that_accepts_json_is_answered_so(admin: Api) -> None:
    parts = multipart(
        request("GET", "Clients/$count", content_id="2"),
        change_set(request("POST", "Clients", {"name": "ACME"}, content_id="c")),
        change_set(
            request("POST", "Clients", {"name": "Undone"}),
            request("POST", "Clients", {"nmae": "Wrong"}),
        ),
        request("GET", "Clients/$count"),
    )
    more = {"Prefer": "continue-on-error", "OData-MaxVersion": "4.01"}
    answer = post(admin, parts, {"Accept": "application/json", **more})
    assert answer.mimetype == "application/json"
    found = [(item["id"], item["status"]) for item in answer.json["responses"]]
    assert found == [("2", 200), ("c", 201), ("3", 424), ("4", 400), ("5", 200)]
    assert answer.json["responses"][4]["body"] == "1"


@pytest.mark.parametrize(
    ("accept", "version", "kind"),
    [
        ("", None, None),
        ("*/*", None, None),
        ("application/json", None, None),
        ("application/json", "4.01", "application/json"),
        ("application/json;odata.metadata=none", "4.01", "application/json"),
        ("application/json", "4.0", "multipart/mixed"),
        ("multipart/mixed", "4.01", "multipart/mixed"),
        ("multipart/mixed, application/json", "4.01", None),
        ("multipart/mixed;q=0.5, application/json", None, None),
        ("multipart/mixed;q=0.5, application/json", "4.01", "application/json"),
        ("multipart/mixed, application/json;q=0.5", None, "multipart/mixed"),
    ],
)
def test_the_answer_has_the_form_that_is_accepted_most(
    admin: Api, accept: str, version: str | None, kind: str | None
) -> None:
    headers = {"Accept": accept} if accept else {}
    headers |= {"OData-MaxVersion": version} if version else {}
    asked = multipart(request("GET", "Clients/$count"))
    assert post(admin, asked, headers).mimetype == (kind or "multipart/mixed")
    if version != "4.0":
        body = {"requests": [one("1", "get", "Clients/$count")]}
        answer = admin.post("/odata/$batch", body, headers=headers)
        assert answer.mimetype == (kind or "application/json")


def test_an_empty_json_batch_has_no_answers(admin: Api) -> None:
    assert admin.post("/odata/$batch", {"requests": []}).json == {"responses": []}


def test_json_batches_are_of_version_4_01(admin: Api) -> None:
    body = {"requests": [one("1", "get", "Clients")]}
    for version, status in (("4.0", 400), ("4.01", 200)):
        answer = admin.post("/odata/$batch", body, headers={"OData-MaxVersion": version})
        assert answer.status_code == status


@pytest.mark.parametrize("name", ["If-Match", "If-None-Match"])
def test_a_condition_is_of_one_request_and_one_entity(admin: Api, name: str) -> None:
    body = {"requests": [one("1", "post", "Clients", {"name": "New"})]}
    refused = admin.post("/odata/$batch", body, headers={name: "*"})
    assert refused.status_code == 400
    assert refused.json["error"]["message"].startswith(f"{name} is of one request")
    delta = {"value": [{"externalId": "c-1", "name": "New"}]}
    refused = admin.patch("/odata/Clients", delta, headers={name: "*"})
    assert refused.status_code == 400
    assert refused.json["error"]["details"][0]["target"] == name
    assert admin.get("/odata/Clients/$count").text == "0"


def test_requests_take_the_format_over_that_the_batch_accepts(admin: Api) -> None:
    key = make(admin, "Clients", name="ACME", revenue=10)
    url = f"Clients({key})?$select=id,revenue"
    own = one("2", "get", url)
    own["headers"] = {"accept": "application/json", "prefer": 'include-annotations="-*"'}
    answer = admin.post(
        "/odata/$batch",
        {"requests": [one("1", "get", url), own, one("3", "get", "Clients/$count")]},
        headers={
            "Accept": "application/json;odata.metadata=none;IEEE754Compatible=true",
            "Prefer": 'include-annotations="Measures.*"',
        },
    )
    first, second, third = answer.json["responses"]
    currency = "revenue@Measures.ISOCurrency"
    assert first["body"] == {"id": str(key), currency: "EUR", "revenue": "10.00"}
    assert second["body"]["id"] == key and currency not in second["body"]
    assert (third["status"], third["body"]) == (200, "1")


def test_a_json_batch_can_be_answered_as_multipart(admin: Api) -> None:
    answer = admin.post(
        "/odata/$batch",
        {"requests": [one("1", "get", "Clients")]},
        headers={"Accept": "multipart/mixed"},
    )
    assert answer.mimetype == "multipart/mixed"
    assert "Content-ID: 1" in answer.text


# --- bytes and texts ------------------------------------------------------------------------------


def base64url(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


def file(name: str, method: str, url: str, kind: str, body: str) -> dict[str, Any]:
    return {"id": name, "method": method, "url": url, "headers": {"content-type": kind},
            "body": body}  # fmt: skip


def test_bytes_are_base64url_and_texts_are_texts(admin: Api) -> None:
    made = send_json(
        admin,
        file("a", "post", "Documents", "image/png", base64url(PNG)),
        file("b", "post", "Documents", "text/plain", "Grüße\n"),
        one("c", "put", "$a/name", {"value": "dot.png"}, dependsOn=["a"]),
    )
    assert [item["status"] for item in made.values()] == [201, 201, 204]
    read = send_json(
        admin,
        one("a", "get", "Documents(1)/$value"),
        one("b", "get", "Documents(2)/$value"),
        {**one("c", "get", "Documents(1)/$value"), "headers": {"range": "bytes=1-3"}},
        one("d", "get", "Documents(1)/name/$value"),
        one("e", "get", "$metadata"),
    )
    assert [item["status"] for item in read.values()] == [200, 200, 206, 200, 200]
    bodies = {name: item["body"] for name, item in read.items()}
    assert bodies["a"] == base64url(PNG)
    assert (bodies["b"], bodies["c"], bodies["d"]) == ("Grüße\n", base64url(b"PNG"), "dot.png")
    whole = admin.get("/odata/$metadata").data
    assert base64.urlsafe_b64decode(bodies["e"] + "=" * (-len(bodies["e"]) % 4)) == whole


def test_bytes_are_replaced(admin: Api) -> None:
    send_json(admin, file("a", "post", "Documents", "text/plain", "old"))
    found = send_json(
        admin,
        file("a", "put", "Documents(1)/$value", "image/png", base64url(PNG)),
        file("b", "put", "Documents(1)/name/$value", "text/plain", "dot.png"),
        one("c", "get", "Documents(1)/$value"),
    )
    assert [item["status"] for item in found.values()] == [204, 204, 200]
    assert (found["c"]["body"], found["c"]["headers"]["content-type"]) == (
        base64url(PNG), "image/png",
    )  # fmt: skip


@pytest.mark.parametrize("body", ["***", "+/+/", "A", 5, {"a": 1}])
def test_bodies_that_are_no_base64url(admin: Api, body: Any) -> None:
    found = send_json(admin, file("a", "post", "Documents", "image/png", body))
    assert found["a"]["status"] == 400
    assert found["a"]["body"]["error"]["details"][0]["target"] == "requests[0].body"


@pytest.mark.parametrize(
    ("name", "content", "part", "expected"),
    [
        ("latin.txt", "Grüße".encode("latin-1"), "", "Grüße"),
        ("utf-8.txt", "Grüße".encode(), "bytes=0-2", "GrÃ"),
        ("broken.json", b'{"a":}],"responses":[', "", '{"a":}],"responses":['),
        ("whole.json", b'{"a": 1.50}', "", {"a": 1.5}),
        ("cut.json", b'{"a": 1.50}', "bytes=0-3", '{"a"'),
    ],
)
def test_files_are_whatever_somebody_uploaded(
    admin: Api, name: str, content: bytes, part: str, expected: Any
) -> None:
    form = {"file": (BytesIO(content), name)}
    uploaded = admin.client.post("/api/documents/upload", data=form, headers=admin.headers)
    assert uploaded.status_code == 201, uploaded.text
    wanted = one("a", "get", "Documents(1)/$value")
    found = send_json(admin, {**wanted, "headers": {"range": part} if part else {}})
    assert found["a"]["body"] == expected

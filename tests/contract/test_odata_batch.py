"""``$batch`` in both forms: order, atomicity, references, limits, rights."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.models.client import Client
from app.models.event import AuditRecord, Event
from tests.conftest import KeepApp
from tests.contract.batches import (
    Answered,
    AnsweredSet,
    change_set,
    multipart,
    post,
    read,
    request,
    send,
)
from tests.contract.conftest import Api
from tests.contract.records import count_rows, make

# --- multipart ------------------------------------------------------------------------------------


def test_requests_are_answered_in_order_with_status_headers_and_body(admin: Api) -> None:
    key = make(admin, "Clients", name="ACME")
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
    key, gone = make(admin, "Clients", name="ACME"), make(admin, "Clients", name="Gone")
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
    assert count_rows(session, Client) == 2


def test_a_change_set_that_fails_leaves_nothing(admin: Api, session: Session) -> None:
    before = [count_rows(session, model) for model in (Client, AuditRecord, Event)]
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
    assert [count_rows(session, model) for model in (Client, AuditRecord, Event)] == before


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
    key = make(admin, "Clients", name="O'Neil & Söhne", industry="Steel")
    make(admin, "Clients", name="Other", industry="Steel")
    make(admin, "Clients", name="Wood", industry="Wood")
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
        multipart(request("GET", "Clients").replace("binary", "base64")),
        multipart(request("GET", "Clients"))[:-6],
        multipart("Content-Type: multipart/mixed\r\n\r\n--a\r\n--a--"),
        multipart(change_set(change_set(request("POST", "Clients", {}), boundary="inner"))),
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
    assert count_rows(session, Client) == 0


@pytest.mark.parametrize(
    "wrong",
    [
        "Content-Type: application/http\r\n\r\n",
        "Content-Type: application/http\r\n\r\nGET\r\n\r\n",
        "Content-Type: application/http\r\n\r\nGET Clients HTTP/1.1\r\nno header\r\n\r\n",
        request("GET", "Clients", Transfer_Encoding="chunked"),
        change_set(request("GET", "Clients")),
        change_set(request("POST", "Clients", {"name": "Undone"}), request("GET", "Clients")),
    ],
)
def test_a_request_that_cannot_be_read_is_answered_in_its_place(
    admin: Api, session: Session, wrong: str
) -> None:
    first = request("POST", "Clients", {"name": "ACME"})
    body = multipart(first, wrong, request("GET", "Clients/$count"))
    for more, statuses in (({}, [201, 400]), ({"Prefer": "continue-on-error"}, [201, 400, 200])):
        answer = post(admin, body, more)
        assert answer.status_code == 200, answer.text
        found = read(answer.data, answer.headers["Content-Type"])
        assert [one.status for one in found] == statuses
        error = found[1].json["error"]
        assert body.index("ACME") < error["position"] < body.index("$count")
    assert count_rows(session, Client) == 2


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
    assert admin.delete("/odata/$batch").headers["Allow"] == "POST, OPTIONS"
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


def test_every_request_of_a_batch_counts(keep_app: KeepApp, sign_in: Callable[..., Api]) -> None:
    api = sign_in("Manager", keep_app(RATE_LIMIT_USER="100/minute"))
    left = int(api.get("/odata/Clients/$count").headers["RateLimit-Remaining"])
    part = request("GET", "Clients/$count")
    answer = post(api, multipart(*[part] * 5))
    assert answer.status_code == 200
    assert int(answer.headers["RateLimit-Remaining"]) == left - 5
    answer = post(api, multipart(*[part] * 95))
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
    denied = (
        session.connection()
        .execute(select(AuditRecord).where(AuditRecord.action == "access.denied"))
        .one()
    )
    assert denied.after["path"] == "Clients"
    assert count_rows(session, Client) == 0

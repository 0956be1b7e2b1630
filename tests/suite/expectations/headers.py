"""Section 8: headers of requests and answers, preferences, versions, formats."""

from __future__ import annotations

from tests.suite.registry import assert_error, expect_statuses, expects
from tests.suite.service import Service

XML, PLAIN = "application/xml", "text/plain"

expect_statuses(
    "8.2.1 Accept", [("XML is not offered of entities", "GET /Products", 406)], Accept=XML
)
expect_statuses(
    "8.2.1 Accept",
    [("any is JSON", "GET /Products", 200), ("any of a count", "GET /Products/$count", 200)],
    Accept="*/*",
)
expect_statuses(
    "8.2.1 Accept",
    [
        ("JSON of a count and of a deletion", "GET /Products/$count", 200),
        ("JSON of the metadata", "GET /$metadata", 200),
    ],
    Accept="application/json",
)
expect_statuses(
    "8.2.1 Accept", [("plain text of a count", "GET /Products/$count", 200)], Accept=PLAIN
)
expect_statuses(
    "8.2.8 OData-MaxVersion",
    [
        ("3.0 is refused", "GET /Products", (400, 406)),
        ("of the metadata", "GET /$metadata", (400, 406)),
    ],
    OData_MaxVersion="3.0",
)
expect_statuses("8.2.8 OData-MaxVersion", [("4.0", "GET /Products", 200)], OData_MaxVersion="4.0")
expect_statuses("8.2.8 OData-MaxVersion", [("4.01", "GET /Products", 200)], OData_MaxVersion="4.01")
expect_statuses("8.2.8 OData-MaxVersion", [("5.0", "GET /Products", 200)], OData_MaxVersion="5.0")
expect_statuses(
    "8.2.6 Isolation", [("snapshot", "GET /Products", (200, 412))], Isolation="snapshot"
)
expect_statuses(
    "8.2.6 Isolation",
    [("snapshot by its older name", "GET /Products", (200, 412))],
    OData_Isolation="snapshot",
)
for _prefer in (
    "unknown-preference",
    "odata.maxpagesize=2",
    "maxpagesize=2",
    "return=minimal",
    "return=representation",
    "wait=5",
    "respond-async",
    "odata.track-changes",
    "odata.continue-on-error",
    "omit-values=nulls",
    'odata.include-annotations="*"',
    "handling=lenient",
    "handling=strict",
    'callback; url="http://example.com"',
    "odata.allow-entityreferences",
):
    expect_statuses(
        "8.2.9 Prefer", [(f"{_prefer} of a read", "GET /Products", (200, 202))], Prefer=_prefer
    )


@expects("8.1.5 OData-Version", "is 4.0 unless 4.01 is understood, of errors, too")
def _versions(service: Service) -> None:
    for address in ("/", "/Products", "/Products({nobody})", "/$metadata", "/Products/$count"):
        for asked, told in ((None, "4.0"), ("4.0", "4.0"), ("4.01", "4.01")):
            headers = {} if asked is None else {"OData-MaxVersion": asked}
            answer = service.send("GET", service.filled(address), **headers)
            assert answer.headers["OData-Version"] == told, (address, asked)


@expects("8.1.1 Content-Type", "is JSON with the amount of metadata")
def _content_type(service: Service) -> None:
    answer = service.send("GET", "/Products")
    assert answer.headers["Content-Type"].startswith("application/json")
    assert "metadata=minimal" in answer.headers["Content-Type"]


@expects("8.1.1 Content-Type", "other content is refused with 415")
def _other_content(service: Service) -> None:
    for kind in ("text/plain", "application/xml", ""):
        answer = service.send("POST", "/Products", '{"Name":"Pen","Price":1}', Content_Type=kind)
        assert_error(answer, 415, "Content-Type")
    answer = service.send("PATCH", service.filled("/Products({product})"), "{}", Content_Type="")
    assert_error(answer, (400, 415))


@expects("8.2.1 Accept", "what is not offered is told")
def _not_offered(service: Service) -> None:
    assert_error(service.send("GET", "/Products", Accept=XML), 406, "requested format")


@expects("8.2.9 Prefer", "a page has no more rows than are preferred, and a link")
def _page_size(service: Service) -> None:
    for prefer in ("odata.maxpagesize=2", "maxpagesize=2"):
        answer = service.send("GET", "/Products", Prefer=prefer)
        assert len(answer.json["value"]) == 2 and "@odata.nextLink" in answer.json
        assert "maxpagesize=2" in answer.headers["Preference-Applied"]


@expects("8.2.9 Prefer", "nothing is shown of what is made minimally")
def _minimal(service: Service) -> None:
    answer = service.send("POST", "/Products", {"Name": "Pen", "Price": 1}, Prefer="return=minimal")
    assert answer.status_code in (201, 204) and not answer.data
    assert answer.headers["Location"] and answer.headers["OData-EntityId"]
    path = service.filled("/Products({product})")
    answer = service.send("PATCH", path, {"Name": "Pen"}, Prefer="return=minimal")
    assert (answer.status_code, answer.data) == (204, b"")
    assert answer.headers["Preference-Applied"] == "return=minimal"


@expects("8.2.9 Prefer", "what is changed is shown if wanted")
def _representation(service: Service) -> None:
    path = service.filled("/Products({product})")
    answer = service.send("PATCH", path, {"Name": "Pen"}, Prefer="return=representation")
    assert answer.status_code == 200 and answer.json["Name"] == "Pen"
    assert "return=representation" in answer.headers["Preference-Applied"]


@expects("8.3.8 Vary", "names what an answer depends on")
def _vary(service: Service) -> None:
    assert "OData-MaxVersion" in service.send("GET", "/Products").headers["Vary"]


@expects("8.2.4 Conditions", "tags are told, met and not met")
def _conditions(service: Service) -> None:
    path = service.filled("/Products({product})")
    tag = service.send("GET", path).headers["ETag"]
    assert service.get(path)["@odata.etag"] == tag
    assert "@odata.etag" in service.rows("$top=1")[0]
    answer = service.send("GET", path, If_None_Match=tag)
    assert (answer.status_code, answer.data) == (304, b"")
    assert service.send("GET", path, If_None_Match='W/"999"').status_code == 200
    assert service.send("PATCH", path, {"Name": "A"}, If_Match=tag).status_code in (200, 204)
    assert_error(service.send("PATCH", path, {"Name": "B"}, If_Match=tag), 412)
    assert_error(service.send("PUT", path, {"Name": "B", "Price": 1}, If_Match=tag), 412)
    assert_error(service.send("DELETE", path, If_Match=tag), 412)
    assert_error(service.send("PATCH", path, {"Name": "B"}, If_None_Match="*"), 412)
    assert service.send("PATCH", path, {"Name": "B"}, If_Match="*").status_code in (200, 204)
    assert service.send("GET", path).headers["ETag"] != tag
    assert service.send("DELETE", path, If_Match="*").status_code == 204


@expects("8.2.4 Conditions", "a condition on what is not there is not met")
def _condition_of_nothing(service: Service) -> None:
    path = service.filled("/Products({nobody})")
    assert_error(service.send("PATCH", path, {"Name": "A"}, If_Match="*"), (404, 412))

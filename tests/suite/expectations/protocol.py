"""Sections 11.2.8, 11.4.9, 13 and 19: changes since, batches, answers fetched later."""

from __future__ import annotations

import json
from typing import Any

from tests.suite.registry import assert_error, expects
from tests.suite.service import NOBODY, Service, change_set, multipart, part

MIXED = "multipart/mixed; boundary=b"
PEN = {"Name": "Pen", "Price": 1}


def batch(service: Service, *parts: str, **headers: str) -> str:
    answer = service.send("POST", "/$batch", multipart(*parts), Content_Type=MIXED, **headers)
    assert answer.status_code == 200, answer.text
    assert answer.mimetype == "multipart/mixed"
    text: str = answer.text
    return text


def json_batch(service: Service, *requests: dict[str, Any], **headers: str) -> dict[str, Any]:
    answer = service.send("POST", "/$batch", {"requests": list(requests)}, **headers)
    assert answer.status_code == 200, answer.text
    return {one["id"]: one for one in answer.json["responses"]}


def one(name: str, method: str, url: str, body: Any = None, **more: Any) -> dict[str, Any]:
    found = {"id": name, "method": method, "url": url, **more}
    return found if body is None else {**found, "body": body}


@expects("11.2.8 Delta links", "tell what was made and deleted since")
def _delta(service: Service) -> None:
    answer = service.send("GET", "/Products", Prefer="odata.track-changes")
    assert "odata.track-changes" in answer.headers["Preference-Applied"]
    link = answer.json["@odata.deltaLink"]
    assert "$deltatoken" in link
    address = link.removeprefix("http://localhost")
    made = service.new()
    assert made["ID"] in service.send("GET", address).text
    service.send("DELETE", f"/Products({made['ID']})")
    told = service.send("GET", address).text
    assert "@odata.removed" in told and f'"ID":"{made["ID"]}"' in told


@expects("11.2.8 Delta links", "are given only if they are wanted")
def _no_delta(service: Service) -> None:
    assert "@odata.deltaLink" not in service.get("/Products")


@expects("13 Later answers", "202 says where, and the answer is there")
def _later(service: Service) -> None:
    answer = service.send("GET", "/Products", Prefer="respond-async")
    assert answer.status_code in (200, 202)
    if answer.status_code == 202:
        assert answer.headers["Location"]


@expects("11.4.9 Batch", "requests are answered in their order")
def _batch(service: Service) -> None:
    text = batch(service, part("GET", "/Products"), part("GET", "Categories"))
    assert text.count("HTTP/1.1 200") == 2
    assert text.index("#Products") < text.index("#Categories")


@expects("11.4.9 Batch", "what is malformed is refused")
def _malformed(service: Service) -> None:
    for body, kind in (
        ("INVALID", MIXED),
        (multipart(part("GET", "/Products")), "multipart/mixed; boundary=other"),
        (multipart(part("GET", "/Products")), "multipart/mixed"),
        ("", MIXED),
    ):
        assert_error(service.send("POST", "/$batch", body, Content_Type=kind), 400)
    assert_error(service.send("POST", "/$batch", "x", Content_Type="text/plain"), (400, 415))
    assert_error(service.send("GET", "/$batch"), 405)


@expects("11.4.9.1 Errors in batches", "the batch ends at the first unless it goes on")
def _stops(service: Service) -> None:
    parts = [part("GET", url) for url in ("/Products", f"/Products({NOBODY})", "/Categories")]
    text = batch(service, *parts)
    assert (text.count("HTTP/1.1 200"), text.count("HTTP/1.1 404")) == (1, 1)
    assert '"error"' in text and '"code"' in text and '"message"' in text
    text = batch(service, *parts, Prefer="odata.continue-on-error")
    assert (text.count("HTTP/1.1 200"), text.count("HTTP/1.1 404")) == (2, 1)


@expects("11.4.9.2 Change sets", "are done as a whole or not at all")
def _atomic(service: Service) -> None:
    path = service.filled("/Products({product})")
    batch(
        service,
        change_set(
            part("PATCH", path, {"Name": "Gone"}, "1"),
            part("DELETE", f"/Products({NOBODY})", None, "2"),
        ),
    )
    assert service.get(path)["Name"] == "Laptop"
    text = batch(
        service,
        change_set(part("POST", "/Products", PEN, "1"), part("POST", "/Products", PEN, "2")),
    )
    assert text.count("HTTP/1.1 201") == 2
    assert service.send("GET", "/Products/$count").text == "9"


@expects("11.4.9.3 References in batches", "$1 is what the first request made")
def _references(service: Service) -> None:
    text = batch(
        service,
        change_set(
            part("POST", "/Products", PEN, "1"), part("PATCH", "$1", {"Name": "Changed"}, "2")
        ),
    )
    assert "HTTP/1.1 201" in text and "Content-ID: 1" in text
    assert "Changed" in service.names("")


@expects("11.4.9.3 References in batches", "a name that is there twice is refused")
def _twice(service: Service) -> None:
    body = multipart(change_set(*[part("POST", "/Products", PEN, "1")] * 2))
    answer = service.send("POST", "/$batch", body, Content_Type=MIXED)
    refused = answer.status_code == 400 or "HTTP/1.1 400" in answer.text
    assert refused and service.send("GET", "/Products/$count").text == "7"


@expects("19 Batches in JSON", "each request is answered by its id")
def _json(service: Service) -> None:
    found = json_batch(
        service,
        one("a", "GET", "Products"),
        one("b", "get", "/Products?$top=1"),
        one("c", "POST", "Products", PEN),
    )
    assert [found[name]["status"] for name in "abc"] == [200, 200, 201]
    assert all(name == name.lower() for each in found.values() for name in each["headers"])
    assert service.send("POST", "/$batch", {"requests": []}).json == {"responses": []}


@expects("19 Batches in JSON", "what depends on a failure is not done")
def _depends(service: Service) -> None:
    found = json_batch(
        service,
        one("1", "GET", f"Products({NOBODY})"),
        one("2", "GET", "Products", dependsOn=["1"]),
        one("3", "GET", "Products"),
    )
    assert [found[name]["status"] for name in "123"] == [404, 424, 200]


@expects("19 Batches in JSON", "a group is done as a whole or not at all")
def _group(service: Service) -> None:
    found = json_batch(
        service,
        one("1", "POST", "Products", PEN, atomicityGroup="g"),
        one("2", "DELETE", f"Products({NOBODY})", atomicityGroup="g"),
        Prefer="continue-on-error",
    )
    assert all(each["status"] >= 400 and each["atomicityGroup"] == "g" for each in found.values())
    assert service.send("GET", "/Products/$count").text == "7"


@expects("19 Batches in JSON", "the batch ends at the first if wanted")
def _ends(service: Service) -> None:
    found = json_batch(
        service,
        one("1", "GET", f"Products({NOBODY})"),
        one("2", "GET", "Products"),
        Prefer="continue-on-error=false",
    )
    assert list(found) == ["1"]


@expects("19 Batches in JSON", "what is wrong with the batch refuses it")
def _wrong(service: Service) -> None:
    get = ("GET", "Products")
    for requests in (
        None,
        [one("1", *get), one("1", *get)],
        [one("1", *get, dependsOn=["2"]), one("2", *get)],
        [one("g", *get), one("2", *get, atomicityGroup="g")],
        [one("1", *get, atomicityGroup="g"), one("2", *get), one("3", *get, atomicityGroup="g")],
    ):
        body = {} if requests is None else {"requests": requests}
        assert_error(service.send("POST", "/$batch", body), 400)


@expects("19 Batches in JSON", "are of 4.01")
def _of_newer(service: Service) -> None:
    body = {"requests": [one("1", "GET", "Products")]}
    assert service.send("POST", "/$batch", body, OData_MaxVersion="4.0").status_code >= 400
    assert service.send("POST", "/$batch", body, OData_MaxVersion="4.01").status_code == 200


@expects("19 Batches in JSON", "a request has the versions of the batch, or its own")
def _versions(service: Service) -> None:
    outer = {"OData_Version": "4.01", "OData_MaxVersion": "4.01"}
    typed = {"@type": "ComplianceService.Product", **PEN}
    found = json_batch(
        service,
        one("1", "POST", "Products", typed),
        one("2", "POST", "Products", typed, headers={"OData-Version": "4.0"}),
        one("3", "POST", "Products", typed, headers={"OData-MaxVersion": "4.0"}),
        one("4", "POST", "Products", PEN, headers={"OData-Version": "4.02"}),
        **outer,
    )
    assert [found[name]["status"] for name in "1234"] == [201, 400, 201, 400], json.dumps(found)
    assert found["1"]["headers"]["odata-version"] == "4.01"
    assert found["3"]["headers"]["odata-version"] == "4.0"


@expects("19 Batches in JSON", "an error in a request is its answer")
def _inside(service: Service) -> None:
    found = json_batch(service, one("1", "NONSENSE", "Products"), one("2", "GET", "Products"))
    assert [found[name]["status"] for name in "12"] == [400, 200]

"""Advanced level: ``$batch`` in both forms."""

from __future__ import annotations

import json
from typing import Any

from tests.conformance.registry import requirement
from tests.conformance.service import Reply, Service

CRLF = "\r\n"


def multipart(s: Service, *parts: str, prefer: str = "") -> Reply:
    """Send parts; one that begins with ``--c`` is a change set."""
    text = ""
    for part in parts:
        kind = "multipart/mixed; boundary=c" if part.startswith("--c") else "application/http"
        text += f"--b{CRLF}Content-Type: {kind}{CRLF}{CRLF}{part}{CRLF}"
    headers = {"Content-Type": "multipart/mixed; boundary=b"}
    if prefer:
        headers["Prefer"] = prefer
    return s.send("POST", "$batch", f"{text}--b--{CRLF}", headers)


def request(method: str, url: str, body: Any = None) -> str:
    content = "" if body is None else json.dumps(body)
    kind = f"Content-Type: application/json{CRLF}" if content else ""
    return f"{method} {url} HTTP/1.1{CRLF}{kind}{CRLF}{content}"


def change_set(*requests: str) -> str:
    parts = "".join(
        f"--c{CRLF}Content-Type: application/http{CRLF}Content-ID: {place}{CRLF}{CRLF}{one}{CRLF}"
        for place, one in enumerate(requests, start=1)
    )
    return f"{parts}--c--{CRLF}"


def batch(s: Service, *requests: dict[str, Any], **headers: str) -> list[dict[str, Any]]:
    reply = s.send("POST", "$batch", {"requests": list(requests)}, headers)
    assert reply.status == 200, reply.text
    found: list[dict[str, Any]] = reply.json["responses"]
    return found


def one(id_: str, method: str, url: str, body: Any = None, **more: Any) -> dict[str, Any]:
    made = {"id": id_, "method": method, "url": url, **more}
    if body is not None:
        made |= {"body": body, "headers": {"content-type": "application/json"}}
    return made


@requirement("ADV-25", "MUST", "multipart: answers in order, to URLs of every form.")
def _(s: Service) -> None:
    urls = (s.client(), f"/odata/{s.client('Delta_x')}", s.root + "Clients/$count")
    reply = multipart(s, *(request("GET", url) for url in urls))
    assert reply.status == 200 and reply.text.count("HTTP/1.1 200 OK") == 3
    assert reply.text.index("Acme") < reply.text.index("Delta_x")


@requirement("ADV-26", "MUST", "multipart: a change set makes, changes and removes together.")
def _(s: Service) -> None:
    key = s.make("Clients", {"name": "Gone"})["id"]
    reply = multipart(s, change_set(
        request("POST", "Clients", {"name": "Together"}),
        request("PATCH", s.client(), {"industry": "Trade"}),
        request("DELETE", f"Clients({key})"),
    ))  # fmt: skip
    assert reply.text.count("multipart/mixed") >= 1 and "Content-ID: 3" in reply.text
    assert s.names("$filter=name eq 'Together'") == ["Together"]
    assert s.fetch(f"Clients({key})").status == 404


@requirement("ADV-27", "MUST", "multipart: a change set with one failure leaves nothing.")
def _(s: Service) -> None:
    reply = multipart(s, change_set(
        request("POST", "Clients", {"name": "Undone"}), request("POST", "Clients", {"nmae": "x"}),
    ))  # fmt: skip
    assert reply.text.count("HTTP/1.1 ") == 1 and "HTTP/1.1 400" in reply.text
    assert s.names("$filter=name eq 'Undone'") == []


@requirement("ADV-28", "MUST", "multipart: a request refers to one before it by Content-ID.")
def _(s: Service) -> None:
    multipart(s, change_set(
        request("POST", "Clients", {"name": "Referred"}),
        request("POST", "$1/Contacts", {"lastName": "Referring"}),
    ))  # fmt: skip
    row = s.get("Clients?$filter=name eq 'Referred'&$expand=Contacts")["value"][0]
    assert row["Contacts"][0]["lastName"] == "Referring"


@requirement("ADV-29", "MUST", "multipart: it stops at an error, unless it is to go on.")
def _(s: Service) -> None:
    parts = (request("GET", "Nothing"), request("GET", s.client()))
    assert multipart(s, *parts).text.count("HTTP/1.1 ") == 1
    for prefer in ("continue-on-error", "odata.continue-on-error"):
        assert multipart(s, *parts, prefer=prefer).text.count("HTTP/1.1 ") == 2


@requirement("ADV-30", "MUST", "Malformed batches are refused.")
def _(s: Service) -> None:
    for kind, body in (
        ("multipart/mixed", "x"),
        ("text/plain", "x"),
        ("application/json", "["),
        ("multipart/mixed; boundary=b", "garbage"),
    ):
        reply = s.send("POST", "$batch", body, {"Content-Type": kind})
        assert 400 <= reply.status < 500, kind


@requirement("ADV-31", "MUST", "JSON: every id is answered once, with status, headers and body.")
def _(s: Service) -> None:
    found = batch(
        s,
        one("a", "GET", s.client()),
        one("b", "POST", "Clients", {"name": "J"}),
        one("c", "PATCH", s.client(), {"industry": "Metal"}),
    )
    assert [answer["id"] for answer in found] == ["a", "b", "c"]
    assert [answer["status"] for answer in found][:2] == [200, 201]
    assert found[0]["body"]["name"] == "Acme"
    assert all(name == name.lower() for answer in found for name in answer["headers"])


@requirement("ADV-32", "MUST", "JSON: a group is done whole or not at all.")
def _(s: Service) -> None:
    found = batch(
        s,
        one("a", "POST", "Clients", {"name": "Undone"}, atomicityGroup="g"),
        one("b", "POST", "Clients", {"nmae": "x"}, atomicityGroup="g"),
    )
    assert s.names("$filter=name eq 'Undone'") == []
    assert any(answer["status"] >= 400 for answer in found)
    assert all(answer["atomicityGroup"] == "g" for answer in found)


@requirement("ADV-33", "MUST", "JSON: a request refers to one that it depends on.")
def _(s: Service) -> None:
    found = batch(
        s,
        one("a", "POST", "Clients", {"name": "J2"}),
        one("b", "POST", "$a/Contacts", {"lastName": "Of J2"}, dependsOn=["a"]),
    )
    assert found[1]["body"]["clientId"] == found[0]["body"]["id"]


@requirement("ADV-34", "MUST", "JSON: what depends on a failure is 424; bad ids are refused.")
def _(s: Service) -> None:
    found = batch(
        s,
        one("a", "GET", "Nothing"),
        one("b", "GET", s.client(), dependsOn=["a"]),
        Prefer="continue-on-error",
    )
    assert found[1]["status"] == 424
    for requests in (
        [one("a", "GET", "Clients")] * 2,
        [one("a", "GET", "Clients", dependsOn=["z"])],
    ):
        assert s.send("POST", "$batch", {"requests": requests}).status == 400

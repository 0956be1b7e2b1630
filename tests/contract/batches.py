"""Batches as clients write them: multipart parts, change sets, and what came back."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from werkzeug.test import TestResponse

from tests.contract.conftest import Api

BOUNDARY = "batch_1"


def request(
    method: str, url: str, body: Any = None, *, content_id: str | None = None, **headers: str
) -> str:
    """One request as a part; ``If_Match`` stands for ``If-Match``."""
    lines = ["Content-Type: application/http", "Content-Transfer-Encoding: binary"]
    if content_id is not None:
        lines.append(f"Content-ID: {content_id}")
    lines += ["", f"{method} {url} HTTP/1.1"]
    if body is not None:
        lines.append("Content-Type: application/json")
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", "" if body is None else json.dumps(body)])


def multipart(*parts: str, boundary: str = BOUNDARY) -> str:
    """Parts between their delimiters."""
    return "".join(f"--{boundary}\r\n{part}\r\n" for part in parts) + f"--{boundary}--\r\n"


def change_set(*parts: str, boundary: str = "set_1") -> str:
    """A part that holds a change set."""
    head = f"Content-Type: multipart/mixed; boundary={boundary}\r\n\r\n"
    return head + multipart(*parts, boundary=boundary)


@dataclass
class Answered:
    """One answer of a batch."""

    status: int
    headers: dict[str, str]
    text: str
    content_id: str | None = None

    @property
    def json(self) -> Any:
        return json.loads(self.text)


@dataclass
class AnsweredSet:
    """The answers of a change set that was done."""

    answers: list[Answered] = field(default_factory=list)


def send(api: Api, *parts: str, **headers: str) -> list[Any]:
    """Send a multipart batch; its answers in their order."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    answer = post(api, multipart(*parts), named)
    assert answer.status_code == 200, answer.text
    return read(answer.data, answer.headers["Content-Type"])


def post(api: Api, body: str | bytes, headers: dict[str, str] | None = None) -> TestResponse:
    """Send the bytes of a batch."""
    kind = {"Content-Type": f"multipart/mixed; boundary={BOUNDARY}"}
    return api.client.post(
        "/odata/$batch", data=body, headers={**api.headers, **kind, **(headers or {})}
    )


def read(body: bytes, content_type: str) -> list[Any]:
    """The parts of a multipart answer."""
    boundary = content_type.partition("boundary=")[2]
    found: list[Any] = []
    for part in body.split(f"--{boundary}".encode())[1:-1]:
        head, _, rest = part.strip(b"\r\n").partition(b"\r\n\r\n")
        headers = _headers(head)
        if headers["content-type"].startswith("multipart/mixed"):
            found.append(AnsweredSet(read(rest, headers["content-type"])))
            continue
        assert headers["content-type"] == "application/http"
        line, _, rest = rest.partition(b"\r\n")
        inner, _, text = rest.partition(b"\r\n\r\n")
        status = int(line.split()[1])
        found.append(Answered(status, _headers(inner), text.decode(), headers.get("content-id")))
    return found


def _headers(text: bytes) -> dict[str, str]:
    pairs = (line.partition(":") for line in text.decode().split("\r\n") if line)
    return {name.strip().lower(): value.strip() for name, _, value in pairs}


def send_json(api: Api, *requests: dict[str, Any], **headers: str) -> dict[str, dict[str, Any]]:
    """Send a JSON batch; its answers by id."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    answer = api.post("/odata/$batch", {"requests": list(requests)}, headers=named)
    assert answer.status_code == 200, answer.text
    responses = answer.json["responses"]
    assert len({one["id"] for one in responses}) == len(responses)
    return {one["id"]: one for one in responses}

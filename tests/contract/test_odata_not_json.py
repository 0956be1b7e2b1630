"""What is no JSON is asked for by its own type: counts, values and bytes (Protocol 8.2.1)."""

from __future__ import annotations

import json
from io import BytesIO

import pytest

from tests.contract.conftest import Api

PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(20)


@pytest.fixture
def addresses(admin: Api) -> dict[str, str]:
    """Of each kind of answer that is no JSON one address."""
    client = admin.post("/odata/Clients", {"name": "Acme", "status": "Active"}).json
    note = admin.post(
        "/odata/Documents", data="a note", headers={"Content-Type": "text/plain", "Slug": "n.txt"}
    )
    assert note.status_code == 201, note.text
    return {
        "count": "/odata/Clients/$count",
        "filtered count": "/odata/Clients/$filter(name eq 'Acme')/$count",
        "related count": f"/odata/Clients({client['id']})/Contacts/$count",
        "value": f"/odata/Clients({client['id']})/name/$value",
        "number": f"/odata/Clients({client['id']})/id/$value",
        "text file": f"/odata/Documents({note.json['id']})/$value",
    }


KINDS = ["count", "filtered count", "related count", "value", "number", "text file"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("accept", "status"),
    [
        ("text/plain", 200), ("text/plain;charset=UTF-8", 200), ("TEXT/*", 200), ("*/*", 200),
        ("application/octet-stream", 200), ("application/json", 200), (None, 200),
        ("text/plain;q=0.1", 200), ("image/png, text/plain;q=0.5", 200),
        ("application/xml, */*;q=0.1", 200),
        ("image/png", 406), ("image/*", 406), ("application/xml", 406), ("text/plain;q=0", 406),
        ("text/plain;q=0, text/*", 406), ("text/html", 406), ("nonsense", 406),
        ("text/plain;q=x", 406),
    ],
)  # fmt: skip
def test_the_type_of_the_answer_decides(
    admin: Api, addresses: dict[str, str], kind: str, accept: str | None, status: int
) -> None:
    headers = {} if accept is None else {"Accept": accept}
    answer = admin.get(addresses[kind], headers=headers)
    assert answer.status_code == status, answer.get_data(as_text=True)
    if status == 200:
        assert answer.mimetype == "text/plain"
    else:
        assert answer.json["error"]["code"] == "NOT_ACCEPTABLE"


@pytest.mark.parametrize(
    ("accept", "status"),
    [
        ("image/png", 200), ("image/*", 200), ("image/*;q=0.2, text/html", 200), ("*/*", 200),
        ("application/octet-stream", 200), ("image/jpeg", 406), ("text/plain", 406),
        ("image/png;q=0, image/*", 406),
    ],
)  # fmt: skip
def test_bytes_are_asked_for_by_their_type(admin: Api, accept: str, status: int) -> None:
    made = admin.post(
        "/odata/Documents", data=PICTURE, headers={"Content-Type": "image/png", "Slug": "p.png"}
    ).json
    answer = admin.get(f"/odata/Documents({made['id']})/$value", headers={"Accept": accept})
    assert answer.status_code == status
    if status == 200:
        assert answer.mimetype == "image/png" and BytesIO(answer.data).read() == PICTURE


def test_format_says_it_too(admin: Api, addresses: dict[str, str]) -> None:
    for kind in KINDS:
        answer = admin.get(f"{addresses[kind]}?$format=text/plain")
        assert (answer.status_code, answer.mimetype) == (200, "text/plain"), kind
        assert admin.get(f"{addresses[kind]}?$format=image/png").status_code == 406


@pytest.mark.parametrize(
    "path", ["Clients", "Clients?$top=1", "Clients(1)/name", "$crossjoin(Clients)"]
)
def test_json_is_not_text(admin: Api, addresses: dict[str, str], path: str) -> None:
    assert admin.get(f"/odata/{path}", headers={"Accept": "text/plain"}).status_code == 406
    assert admin.get(f"/odata/{path}", headers={"Accept": "text/plain, */*"}).status_code == 200


def test_parts_of_a_batch_ask_for_text(admin: Api, addresses: dict[str, str]) -> None:
    requests = [
        {"id": f"{at}", "method": "GET", "url": url, "headers": {"accept": accept}}
        for at, (url, accept) in enumerate(
            (addresses[kind], accept) for kind in KINDS for accept in ("text/plain", "image/png")
        )
    ]
    body = admin.post(
        "/odata/$batch",
        data=json.dumps({"requests": requests}),
        headers={
            "Content-Type": "application/json", "OData-MaxVersion": "4.01",
            "Prefer": "continue-on-error",
        },
    ).json  # fmt: skip
    statuses = {answer["id"]: answer["status"] for answer in body["responses"]}
    assert [statuses[f"{at}"] for at in range(len(requests))] == [200, 406] * len(KINDS)
    lines = [
        "--b", "Content-Type: application/http", "Content-Transfer-Encoding: binary", "",
        "GET Clients/$count HTTP/1.1", "Accept: text/plain", "", "", "--b--", "",
    ]  # fmt: skip
    answer = admin.post(
        "/odata/$batch",
        data="\r\n".join(lines),
        headers={"Content-Type": "multipart/mixed; boundary=b"},
    )
    assert b"HTTP/1.1 200" in answer.data and b"text/plain" in answer.data

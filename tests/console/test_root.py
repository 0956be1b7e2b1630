"""The root of the service: a browser is sent to the console, a program finds nothing as before."""

from __future__ import annotations

import pytest
from flask.testing import FlaskClient

BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8"


def test_a_browser_is_sent_to_the_console(client: FlaskClient) -> None:
    answer = client.get("/", headers={"Accept": BROWSER})
    assert (answer.status_code, answer.headers["Location"]) == (303, "/admin/")
    assert "Accept" in answer.headers["Vary"]
    assert client.post("/", headers={"Accept": BROWSER}).status_code == 401


@pytest.mark.parametrize("accept", [None, "*/*", "application/json", "application/json, text/html"])
def test_a_program_finds_what_it_finds_elsewhere(client: FlaskClient, accept: str | None) -> None:
    headers = {"Accept": accept} if accept else {}
    here, elsewhere = client.get("/", headers=headers), client.get("/nothing", headers=headers)
    assert here.status_code == elsewhere.status_code == 401
    assert here.json["error"]["code"] == elsewhere.json["error"]["code"]
    assert here.json["error"]["message"] == elsewhere.json["error"]["message"]


WRONG = (
    "/docs/guide/nothing", "/docs/guide/adr/nothing", "/docs/guide/images/no.png",
    "/docs/nothing", "/docs/nothing/there", "/guide", "/nothing", "/favicon.ico",
)  # fmt: skip


@pytest.mark.parametrize("address", WRONG)
def test_a_browser_at_a_wrong_address_is_told_where_to_go(
    client: FlaskClient, address: str
) -> None:
    page = client.get(address, headers={"Accept": BROWSER})
    assert (page.status_code, page.content_type) == (404, "text/html; charset=utf-8"), page.text
    assert "Accept" in page.headers["Vary"]
    assert "default-src 'none'" in page.headers["Content-Security-Policy"]
    for target in ("/admin/", "/docs/guide", "/docs"):
        assert f'href="{target}"' in page.text
        assert client.get(target, headers={"Accept": BROWSER}).status_code in (200, 303)
    assert client.get(address).json["error"]["code"] in ("NOT_FOUND", "TOKEN_MISSING")
    assert client.post(address, headers={"Accept": BROWSER}).is_json


@pytest.mark.parametrize("address", ["/api/nothing", "/api/v1/invoices/1", "/odata/Nothing"])
def test_an_address_of_the_api_answers_a_browser_as_a_program(
    client: FlaskClient, address: str
) -> None:
    answer = client.get(address, headers={"Accept": BROWSER})
    assert answer.status_code == 401 and answer.is_json

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

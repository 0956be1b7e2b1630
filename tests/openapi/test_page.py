"""The page works from this service alone, under a policy that allows nothing else."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient

pytestmark = pytest.mark.only_on("sqlite")


class Page(HTMLParser):
    """Collects what a page loads, and every script or style that stands in it."""

    def __init__(self) -> None:
        super().__init__()
        self.files: list[str] = []
        self.inline: list[str] = []
        self._open = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self._open = tag
        source = given.get("src") or (given.get("href") if tag == "link" else None)
        if source:
            self.files.append(source)
        self.inline += [name for name in given if name.startswith("on") or name == "style"]

    def handle_data(self, data: str) -> None:
        if self._open in ("script", "style") and data.strip():
            self.inline.append(data)


def test_the_page_has_no_script_inside_and_nothing_from_elsewhere(client: FlaskClient) -> None:
    answer = client.get("/docs")
    assert answer.status_code == 200
    page = Page()
    page.feed(answer.text)
    assert page.inline == []
    assert len(page.files) == 6
    for file in page.files:
        assert file.startswith("/docs/")
        found = client.get(file)
        assert (found.status_code, found.data != b"") == (200, True)
        assert found.headers["X-Content-Type-Options"] == "nosniff"
        assert found.headers["Cache-Control"] == "public, max-age=86400"


def test_the_page_leads_to_the_guide(client: FlaskClient) -> None:
    guide = client.get("/openapi.json").json["externalDocs"]
    assert client.get(guide["url"]).status_code == 200


def test_the_policy(client: FlaskClient) -> None:
    policy = client.get("/docs").headers["Content-Security-Policy"]
    assert "script-src 'self';" in policy
    assert "unsafe" not in policy
    assert "http" not in policy


def test_the_files_of_the_page_are_not_counted(client: FlaskClient) -> None:
    assert "RateLimit-Limit" not in client.get("/docs/page.css").headers
    assert "RateLimit-Limit" in client.get("/docs").headers


@pytest.mark.parametrize("name", ["swagger-ui.js", "nothing.js", "../routes.py", "..%2Froutes.py"])
def test_only_the_files_of_the_page(client: FlaskClient, name: str) -> None:
    assert client.get(f"/docs/{name}").status_code in (401, 404)


def test_the_document_is_public_and_has_a_tag(client: FlaskClient) -> None:
    answer = client.get("/openapi.json")
    assert answer.status_code == 200
    assert json.loads(answer.text)["openapi"] == "3.1.0"
    again = client.get("/openapi.json", headers={"If-None-Match": answer.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")


def test_the_initializer_asks_nobody_else(client: FlaskClient) -> None:
    script = client.get("/docs/initializer.js").text
    assert re.search(r"validatorUrl: null", script)
    assert "http" not in script


def test_the_document_as_a_file(app: Flask, tmp_path: Path) -> None:
    path = tmp_path / "openapi.json"
    result = app.test_cli_runner().invoke(args=["openapi", "write", str(path)])
    assert result.exit_code == 0, result.output
    written = json.loads(path.read_text(encoding="utf-8"))
    assert "/odata/Clients" in written["paths"]

"""Files of the guide are given out by name alone, with their type, and may be kept."""

from __future__ import annotations

import pytest
from flask.testing import FlaskClient

from app.guide.pages import FOLDER, ROOT
from app.guide.routes import ASSET_SECONDS, MEDIA_TYPES, PAGE_POLICY, STATIC

pytestmark = pytest.mark.only_on("sqlite")
FILES = {
    f"{ROOT}/{place}/{path.name}": path
    for place, folder in (("assets", STATIC), ("images", FOLDER / "images"), ("files", FOLDER))
    for path in folder.iterdir()
    if path.suffix in MEDIA_TYPES
}


def test_every_file_has_its_type_and_may_be_kept_for_a_day(client: FlaskClient) -> None:
    assert {path.suffix for path in FILES.values()} >= {".css", ".js", ".png"}
    for address, path in FILES.items():
        answer = client.get(address)
        assert (answer.status_code, answer.data) == (200, path.read_bytes()), address
        assert answer.content_type == MEDIA_TYPES[path.suffix]
        assert answer.headers["Cache-Control"] == f"public, max-age={ASSET_SECONDS}"
        known = {"If-None-Match": answer.headers["ETag"]}
        assert client.get(address, headers=known).status_code == 304


@pytest.mark.parametrize(
    "name", ["none.css", "guide.py", "..%2froutes.py", "%2e%2e/routes.py", "GUIDE.CSS", "guide"]
)
@pytest.mark.parametrize("place", ["assets", "images", "files"])
def test_nothing_else_is_given_out(client: FlaskClient, place: str, name: str) -> None:
    assert client.get(f"{ROOT}/{place}/{name}").status_code == 404


def test_a_page_runs_only_its_own_script_and_is_asked_for_anew(client: FlaskClient) -> None:
    for address in (ROOT, f"{ROOT}?q=invoice"):
        answer = client.get(address)
        assert answer.headers["Content-Security-Policy"] == PAGE_POLICY
        assert answer.headers["Cache-Control"] == "public, no-cache"
        assert "<script>" not in answer.text and " style=" not in answer.text
    assert client.get(f"{ROOT}/no-such-page").status_code == 404

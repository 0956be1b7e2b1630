"""The guide has every page, every link of it leads somewhere, and what is looked for is found."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from app.guide.pages import FOLDER, GROUPS, ROOT, every_page, find_page
from app.permissions import ALL, PERMISSIONS, ROLES

pytestmark = pytest.mark.only_on("sqlite")
_DECISIONS = sorted(f"adr/{path.stem}" for path in (FOLDER / "adr").glob("[0-9]*.md"))
_NAMES = [*(name for _, names in GROUPS for name in names), *_DECISIONS]
_LINK = re.compile(r"(?:href|src)=\"([^\"]+)\"")


def test_every_file_of_the_folder_is_a_page_in_the_menu() -> None:
    listed = {name for _, names in GROUPS for name in names}
    assert listed == {path.stem for path in FOLDER.glob("*.md")} | {"adr/index"}
    assert [page.name for page in every_page()] == _NAMES


@pytest.mark.parametrize("name", _NAMES)
def test_every_link_of_a_page_leads_somewhere(client: FlaskClient, name: str) -> None:
    answer = client.get(f"{ROOT}/{name}")
    assert answer.status_code == 200
    for target in _LINK.findall(answer.text):
        path, _, anchor = target.partition("#")
        if path.startswith(("http:", "https:", "data:", "mailto:", f"{ROOT}/images/")):
            continue
        if not path:
            assert f'id="{anchor}"' in answer.text, target
            continue
        assert path.startswith("/"), f"{target} is not a page of the guide"
        there = client.get(path)
        assert there.status_code in (200, 303, 401), target
        if anchor:
            assert f'id="{anchor}"' in there.text, target


def test_links_say_titles_and_no_names_of_files() -> None:
    for page in every_page():
        for words in re.findall(r"<a [^>]*>([^<]*)</a>", page.html):
            assert not words.endswith(".md") and not words.startswith("docs/"), (page.name, words)
    page = find_page("invoices")
    assert page is not None and ">Mail</a>" in page.html
    assert any("Mail" in section.text for section in page.sections)


def test_files_named_by_the_readme_and_the_pages_exist() -> None:
    root = FOLDER.parent
    for path in (root / "README.md", *FOLDER.rglob("*.md")):
        for target in re.findall(r"\]\(([^)\s#]+)", path.read_text(encoding="utf-8")):
            if "://" not in target and not target.startswith("mailto:"):
                assert (path.parent / target).exists(), f"{path.relative_to(root)}: {target}"


def test_words_are_found_with_and_without_a_script(client: FlaskClient) -> None:
    answer = client.get(f"{ROOT}?q=overpayment")
    assert f'href="{ROOT}/' in answer.text.partition('id="results"')[2]
    index = client.get(f"{ROOT}/search.json").json
    assert len(index) > 150
    assert all(entry.keys() == {"a", "p", "t", "x"} for entry in index)
    assert "0 found" in client.get(f"{ROOT}?q=xyzzyplugh").text
    assert "<script>alert" not in client.get(f"{ROOT}?q=<script>alert(1)</script>").text


def test_headings_have_anchors_and_pages_have_a_list_of_them(client: FlaskClient) -> None:
    page = find_page("security")
    assert page is not None
    assert [section.anchor for section in page.sections][:2] == [
        "signing-in-keys-and-what-protects-them", "people",
    ]  # fmt: skip
    assert 'href="#people"' in client.get(page.address).text


@pytest.mark.parametrize(
    "name", ["nothing", "../README", "adr", "adr/nothing", "images", "assets/../pages.py", "CRM"]
)
def test_only_pages_are_given_out(client: FlaskClient, name: str) -> None:
    assert client.get(f"{ROOT}/{name}").status_code == 404


@pytest.mark.parametrize("name", ["guide.css", "guide.js"])
def test_files_are_kept_by_their_tag(client: FlaskClient, name: str) -> None:
    answer = client.get(f"{ROOT}/assets/{name}")
    assert answer.status_code == 200
    again = client.get(f"{ROOT}/assets/{name}", headers={"If-None-Match": answer.headers["ETag"]})
    assert again.status_code == 304


def test_a_changed_file_is_read_anew() -> None:
    page = find_page("errors")
    assert page is not None and page is find_page("errors")
    path = Path(FOLDER / "errors.md")
    assert path.read_text(encoding="utf-8").startswith(f"# {page.title}")


def test_every_scope_is_explained_with_its_roles() -> None:
    text = (FOLDER / "scopes.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `([a-z-]+:[a-z-]+)` \|[^|]+\| ([^|]+) \|$", text, re.MULTILINE))
    assert set(rows) == set(PERMISSIONS)
    for permission, roles in rows.items():
        held = [
            name if rights[permission] == ALL else f"{name} ({rights[permission]})"
            for name, rights in ROLES.items()
            if permission in rights
        ]
        assert roles == ", ".join(held), permission

"""What the code can say, the documentation explains: errors, events, settings."""

from __future__ import annotations

import dataclasses
import re
import textwrap
from pathlib import Path

import pytest

from app import errors
from app.bi.exports.formats import FORMATS
from app.config import Config
from app.events import EVENT_NAMES
from app.models.event import AuditRecord
from app.openapi.document import RELEASE
from tests.architecture.modules import ROOT

DECISIONS = ROOT / "docs" / "adr"


def error_codes() -> set[str]:
    return {
        error.code
        for error in vars(errors).values()
        if isinstance(error, type) and issubclass(error, errors.ApiError)
    }


def page(name: str) -> str:
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


def test_the_newest_release_is_the_version_and_each_has_ten_short_entries() -> None:
    releases = re.split(r"^## ", (ROOT / "CHANGELOG.md").read_text("utf-8"), flags=re.MULTILINE)[1:]
    assert releases[0].startswith((f"{RELEASE} (", "Unreleased"))
    for each in releases:
        entries = re.findall(r"^- .*(?:\n  .*)*", each, re.MULTILINE)
        assert len(entries) <= 10, each.partition("\n")[0]
        assert not [entry for entry in entries if len(entry) > 350]


def test_every_error_code_is_explained_with_its_status() -> None:
    rows = dict(re.findall(r"^\| `([A-Z_]+)` \| (\d+) \|", page("errors.md"), re.MULTILINE))
    assert set(rows) == error_codes()
    for error in vars(errors).values():
        if isinstance(error, type) and issubclass(error, errors.ApiError):
            assert rows[error.code] == str(error.status), error


def test_every_event_is_explained() -> None:
    listed = set(re.findall(r"^\| `([a-z_]+\.[a-z_]+)` \|", page("events.md"), re.MULTILINE))
    assert listed == EVENT_NAMES


def test_every_way_that_a_change_comes_is_explained() -> None:
    ways = re.findall(r"\w+", AuditRecord.__table__.c.via.doc or "")
    assert ways and not [way for way in ways if f"`{way}`" not in page("events.md")]


def test_every_format_of_an_export_is_explained_with_its_rows() -> None:
    listed = re.findall(r"^\| `([a-z]+)` \| ([0-9,]+) \|", page("bi.md"), re.MULTILINE)
    assert listed == [(name, f"{form.most_rows:,}") for name, form in FORMATS.items()]


@pytest.mark.parametrize("name", ["SECRET_KEY", "DATABASE_URL", "RATE_LIMIT_USER"])
def test_settings_are_found_in_the_source(name: str) -> None:
    assert name in settings_read()


def test_every_setting_is_explained() -> None:
    listed = set(re.findall(r"^\| `([A-Z_]+)` \|", page("settings.md"), re.MULTILINE))
    assert settings_read() ^ listed == set()


def settings_read() -> set[str]:
    """The names of environment variables that the service reads."""
    source = (ROOT / "app" / "config.py").read_text(encoding="utf-8")
    names = set(re.findall(r'(?:read\.\w+\(|env\.get\(|env\[)\s*"([A-Z_]+)"', source))
    assert len(names) > len(dataclasses.fields(Config)) / 2
    return names


def test_decisions_name_files_that_are_there_and_code_names_decisions_that_are_there() -> None:
    decisions = {path.name[:4]: path.read_text("utf-8") for path in DECISIONS.glob("0*.md")}
    named = {
        path for text in decisions.values() for path in re.findall(r"`((?:app|tests)/[^`]+)`", text)
    }
    assert named and not [path for path in named if not (ROOT / path).exists()]
    sources = [path for room in ("app", "tests", "bench") for path in (ROOT / room).rglob("*.py")]
    cited = {
        number
        for path in sources
        for number in re.findall(r"docs/adr/(\d{4})\b", path.read_text("utf-8"))
    }
    assert cited and cited <= decisions.keys()


def test_pages_name_decisions_that_are_there_by_their_links() -> None:
    for path in (ROOT / "docs").rglob("*.md"):
        text = re.sub(r"^```.*?^```|`[^`\n]*`", "", path.read_text("utf-8"), flags=re.M | re.S)
        for number, target in re.findall(r"\[(?:decision )?(\d{4})\]\((\S+?)\)", text):
            assert Path(target).name.startswith(f"{number}-"), (path.name, number, target)
        prose = re.sub(r"\[[^\]]*\]\(\S+?\)|^# \d{4} ", "", text, flags=re.MULTILINE)
        assert not re.findall(r"\b0\d{3}\b(?!\.)", prose), path.name


def test_the_page_of_measurements_is_short_and_one_command_prints_it() -> None:
    text = page("performance.md")
    assert len(text.splitlines()) <= 150
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    command = makefile.partition("\nbench:")[2].partition("\n\n")[0]
    measured = set(re.findall(r"python -m bench\.(\w+)", text))
    assert measured and measured <= set(re.findall(r"\w+", command))


def test_the_readme_is_short_and_names_each_page_for_its_reader() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(readme.splitlines()) < 90
    named = set(re.findall(r"\(docs/([\w-]+)\.md\)", readme))
    assert {path.stem for path in (ROOT / "docs").glob("*.md")} - named == set()


def test_the_first_page_of_decisions_has_each_with_its_title_and_each_fits_a_screen() -> None:
    pages = {path.name: path.read_text("utf-8") for path in DECISIONS.glob("0*.md")}
    listed = re.findall(
        r"^- \[\d{4}\]\((\S+)\) (.+)$", (DECISIONS / "index.md").read_text("utf-8"), re.MULTILINE
    )
    titles = {name: text.splitlines()[0].split(" ", 2)[2] for name, text in pages.items()}
    assert sorted(listed) == sorted(titles.items())
    assert len(pages) <= 38
    assert not [name for name, text in pages.items() if lines_of_a_screen(text) > 60]


def lines_of_a_screen(text: str) -> int:
    """The lines of a text on a screen of 100 columns."""
    return sum(len(textwrap.wrap(line, 100)) or 1 for line in text.splitlines())

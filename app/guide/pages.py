"""The pages of the guide, read from the Markdown files of ``docs/`` when first asked for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import markdown_it

FOLDER = Path(__file__).parents[2] / "docs"
ROOT = "/docs/guide"
# The pages in the order in which somebody new reads them; decisions follow by number.
GROUPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Start", ("tutorial", "clients", "console")),
    ("The API", ("odata", "errors", "scopes", "events", "webhooks", "import")),
    (
        "Areas",
        ("crm", "invoices", "mail", "kb", "documents", "assistant", "bi", "organisation"),
    ),
    ("Running it", ("settings", "operations", "scaling", "performance", "security")),
    ("The inside", ("architecture", "extending", "conformance", "mutation", "adr/index")),
)
_FILE = re.compile(r"[a-z0-9-]+")
# Words of a link that are the name of a file, as they help in a folder of files.
_FILE_NAME = re.compile(r"(?:docs/)?(?:[a-z0-9-]+\.md|adr/[a-z0-9-]+(?:\.md)?)")


@dataclass(frozen=True)
class Section:
    """What stands under one heading: its anchor, and its text without marks."""

    title: str
    anchor: str
    level: int
    text: str


@dataclass(frozen=True)
class Page:
    """A page: its address below the guide (``crm``, ``adr/0002-...``), title, HTML and sections."""

    name: str
    title: str
    html: str
    sections: tuple[Section, ...]

    @property
    def address(self) -> str:
        """Where it is served."""
        return f"{ROOT}/{self.name}"


def find_page(name: str) -> Page | None:
    """The page of this name, or None."""
    folder, _, file = name.rpartition("/")
    if folder not in ("", "adr") or _FILE.fullmatch(file) is None:
        return None
    path = FOLDER / folder / f"{file}.md"
    return _read(name, path.stat().st_mtime_ns) if path.is_file() else None


def contents() -> list[tuple[str, list[Page]]]:
    """The groups with the pages that there are."""
    return [
        (title, [page for name in names if (page := find_page(name)) is not None])
        for title, names in GROUPS
    ]


def decisions() -> list[Page]:
    """The decisions, by number."""
    names = sorted(path.stem for path in (FOLDER / "adr").glob("[0-9]*.md"))
    return [page for name in names if (page := find_page(f"adr/{name}")) is not None]


def every_page() -> list[Page]:
    """All pages, the decisions last."""
    return [page for _, pages in contents() for page in pages] + decisions()


@cache
def _read(name: str, changed: int) -> Page:
    """``changed`` is when the file was, so that an edited page is read anew."""
    tokens = _parser().parse((FOLDER / f"{name}.md").read_text(encoding="utf-8"))
    for token in tokens:
        children = token.children or ()
        for opening, words in pairwise(children):
            _name_the_page(opening, words, name)
        for inner in children:
            _lead_here(inner, name)
    sections = tuple(_sections(tokens))
    html = _parser().renderer.render(tokens, _parser().options, {})
    title = sections[0].title if sections else name
    return Page(name, title, html, sections)


@cache
def _parser() -> Any:
    return markdown_it.MarkdownIt("commonmark", {"html": False}).enable("table")


def _sections(tokens: Sequence[Any]) -> list[Section]:
    """The sections of a page; each heading gets its anchor."""
    sections: list[Section] = []
    texts: list[str] = []
    used: set[str] = set()
    for index, token in enumerate(tokens):
        if token.type == "heading_open":
            title = _plain(tokens[index + 1])
            anchor = _unused(_anchor(title) or "section", used)
            token.attrSet("id", anchor)
            sections.append(Section(title, anchor, int(token.tag[1]), ""))
            texts.append("")
        elif sections and token.type in ("fence", "code_block"):
            texts[-1] += " " + token.content
        elif sections and token.type == "inline" and tokens[index - 1].type != "heading_open":
            texts[-1] += " " + _plain(token)
    return [
        Section(section.title, section.anchor, section.level, " ".join(text.split()))
        for section, text in zip(sections, texts, strict=True)
    ]


def _plain(token: Any) -> str:
    return "".join(
        inner.content if inner.type in ("text", "code_inline") else " "
        for inner in token.children or ()
        if inner.type in ("text", "code_inline", "softbreak", "hardbreak")
    )


def _anchor(title: str) -> str:
    """As the pages name each other's headings, and as code hosts do: letters, digits, hyphens."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def _unused(anchor: str, used: set[str]) -> str:
    number, free = 1, anchor
    while free in used:
        number += 1
        free = f"{anchor}-{number}"
    used.add(free)
    return free


def _name_the_page(opening: Any, words: Any, name: str) -> None:
    """A link whose words are the name of a file says the title of the page."""
    if opening.type != "link_open" or words.type != "text":
        return
    target = opening.attrGet("href").partition("#")[0]
    if not target.endswith(".md") or _FILE_NAME.fullmatch(words.content) is None:
        return
    words.content = _title((FOLDER / name).parent / target) or words.content


def _title(path: Path) -> str:
    """The first heading of a file; empty where there is no file."""
    if not path.is_file():
        return ""
    with path.open(encoding="utf-8") as file:
        return file.readline().removeprefix("# ").strip()


def _lead_here(token: Any, name: str) -> None:
    """Links between the files become links between the pages."""
    if token.type == "link_open" and (target := token.attrGet("href")) is not None:
        token.attrSet("href", _address(target, name))
    elif token.type == "image" and (source := token.attrGet("src")) is not None:
        token.attrSet("src", f"{ROOT}/images/{source.rpartition('/')[2]}")
        token.attrSet("loading", "lazy")


def _address(target: str, name: str) -> str:
    file, mark, anchor = target.partition("#")
    if "://" in target or not file or file.startswith("/"):
        return target
    if not file.endswith(".md"):
        return f"{ROOT}/files/{file}"
    folder = "adr/" if name.startswith("adr/") and not file.startswith("../") else ""
    return f"{ROOT}/{folder}{file.removeprefix('../').removeprefix('docs/')[:-3]}{mark}{anchor}"

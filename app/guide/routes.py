"""``/docs/guide``: pages, pictures and search, from this service alone, without a script too."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any, NamedTuple

from flask import Blueprint, Response, render_template, request

from app.db.types import json_text
from app.errors import NotFoundError
from app.guide.pages import FOLDER, ROOT, Page, contents, decisions, every_page, find_page
from app.http.security import counted, public

MOST_FOUND = 40
_AROUND = 90
_WORD = re.compile(r"[^\s]+")


class FoundSection(NamedTuple):
    """A section that has all the words."""

    address: str
    page: str
    title: str
    snippet: str


def entries() -> list[dict[str, Any]]:
    """Every section: ``a`` address, ``p`` page, ``t`` title, ``x`` text."""
    return [
        {
            "a": f"{page.address}#{section.anchor}", "p": page.title, "t": section.title,
            "x": section.text,
        }
        for page in every_page()
        for section in page.sections
    ]  # fmt: skip


def search(question: str) -> list[FoundSection]:
    """The sections that have every word of ``question``; those with them in their titles first."""
    words = [word.lower() for word in _WORD.findall(question)[:10]]
    if not words:
        return []
    ranked = []
    for index, entry in enumerate(entries()):
        title, text = f"{entry['t']} {entry['p']}".lower(), entry["x"].lower()
        if all(word in title or word in text for word in words):
            in_title = sum(word in title for word in words)
            ranked.append((-in_title, index, entry))
    return [
        FoundSection(entry["a"], entry["p"], entry["t"], _snippet(entry["x"], words))
        for _, _, entry in sorted(ranked, key=lambda entry_rank: entry_rank[:2])[:MOST_FOUND]
    ]


def _snippet(text: str, words: list[str]) -> str:
    lowered = text.lower()
    places = [position for word in words if (position := lowered.find(word)) >= 0]
    begin = max(0, min(places, default=0) - _AROUND)
    end = begin + 2 * _AROUND
    return ("…" if begin else "") + text[begin:end] + ("…" if end < len(text) else "")


# Its own files and those of the console, whose design it shares.
PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
    " connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
STATIC = Path(__file__).parent / "static"
MEDIA_TYPES = {
    ".conf": "text/plain; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".yml": "text/plain; charset=utf-8",
}
ASSET_SECONDS = 86_400
_FILE = re.compile(r"[a-z0-9-]+\.[a-z]+")

blueprint = Blueprint("guide", __name__, template_folder="templates")


@blueprint.get(ROOT)
@public
def start() -> Response:
    """The contents, or what ``q`` finds."""
    question = request.args.get("q", "")[:200]
    return _page(
        "guide_start.html", title="Guide", question=question, found=search(question),
        decisions=decisions(),
    )  # fmt: skip


@blueprint.get(f"{ROOT}/<path:name>")
@public
def show_page(name: str) -> Response:
    """By the name of its file, without ``.md``."""
    page = find_page(name)
    if page is None:
        raise NotFoundError("The guide has no such page.")
    return _page("guide_page.html", title=page.title, page=page)


@blueprint.get(f"{ROOT}/search.json")
@public
@counted("free")
def search_index() -> Response:
    """Every section with its text, for the script of the search field."""
    return _cacheable(json_text(entries()).encode(), "application/json")


@blueprint.get(f"{ROOT}/images/<name>")
@public
@counted("free")
def image(name: str) -> Response:
    """A picture."""
    return _file(FOLDER / "images", name)


@blueprint.get(f"{ROOT}/files/<name>")
@public
@counted("free")
def example_file(name: str) -> Response:
    """A file that a page refers to, such as the configuration of a proxy."""
    return _file(FOLDER, name)


@blueprint.get(f"{ROOT}/assets/<name>")
@public
@counted("free")
def asset(name: str) -> Response:
    """The style or the script."""
    return _file(STATIC, name)


def _file(folder: Path, name: str) -> Response:
    path = folder / name
    if _FILE.fullmatch(name) is None or path.suffix not in MEDIA_TYPES or not path.is_file():
        raise NotFoundError("The guide has no such file.")
    return _cacheable(path.read_bytes(), MEDIA_TYPES[path.suffix])


def _cacheable(content: bytes, media_type: str) -> Response:
    answer = Response(content, content_type=media_type)
    answer.set_etag(hashlib.sha256(content).hexdigest()[:32])
    answer.headers["Cache-Control"] = f"public, max-age={ASSET_SECONDS}"
    answer.make_conditional(request)
    return answer


def _page(template: str, *, page: Page | None = None, **values: object) -> Response:
    text = render_template(
        template, root=ROOT, groups=contents(), page=page, here=page.address if page else ROOT,
        **values,
    )  # fmt: skip
    answer = Response(text, content_type="text/html; charset=utf-8")
    answer.headers["Content-Security-Policy"] = PAGE_POLICY
    answer.headers["Cache-Control"] = "public, no-cache"
    return answer

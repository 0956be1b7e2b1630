"""The keys of the pages: what they do, and what the palette finds of all records."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from flask import Response, jsonify, request
from werkzeug.datastructures import MultiDict

from app.console import engine, wording
from app.console.area import console, page
from app.console.columns import columns_of, reading
from app.console.language import marked
from app.console.list_query import read_query
from app.console.named_records import named_record
from app.console.search_page import listed_pages, people_of
from app.console.sets import Page
from app.errors import ApiError
from app.odata.syntax.literals import quoted

MOST_PEOPLE, MOST_OF_A_KIND = 6, 3
# Kinds that the page of the search reads by what is written in them.
_READ = ("documents", "kbarticles")
# (keys, what they do); the scripts in keyboard.js and lists.js do it.
KEYS = (
    (("/", "Ctrl K"), marked("Find records and pages, and do what the page offers")),
    (("c",), marked("Make a new record, in a list")),
    (("j", "k"), marked("The next row and the one before")),
    (("e",), marked("Change the record, or the value that has the focus")),
    (("←", "→"), marked("The values of a row that can be changed")),
    (("Enter",), marked("Open the record, or save the value")),
    (("Esc",), marked("Close what was opened; nothing is saved")),
    (("?",), marked("These keys")),
)


@console.get("/keys")
def show_keys() -> Response:
    """What the keyboard does, on a page of its own."""
    return page("keys.html", keys=KEYS)


@console.get("/palette")
def find_for_palette() -> Response:
    """Records that fit ``q``, as ``{"items": [{"name", "kind", "link"}, ...]}``."""
    text = " ".join(request.args.get("q", "").split())[:200]
    return jsonify({"items": _records(text) if text else []})


def _records(text: str) -> list[dict[str, str]]:
    """Records of every kind, those first whose number ends with what was typed."""
    try:
        people = people_of(text, MOST_PEOPLE)[0]
    except ApiError:  # no word is long enough, or the caller may read none of them
        people = []
    items = []
    for item in people:
        number, kind = _number_of(item), wording.label(item["type"])
        name = " · ".join(filter(None, (number, item["title"], item["subtitle"])))
        items.append((_is_end(text, number), {"name": name, "kind": kind, "link": item["link"]}))
    for set_page in (*listed_pages(), *listed_pages(_READ)):
        items += _of_kind(set_page, text)
    return [item for is_end, item in sorted(items, key=lambda each: not each[0])]


def _of_kind(set_page: Page, text: str) -> Iterator[tuple[bool, dict[str, str]]]:
    """The first records of a set, each with whether its number ends with what was typed."""
    marks = [name for name in ("number", "code", "sku") if name in set_page.columns]
    client = columns_of(set_page, [name for name in set_page.columns if name == "Client"])
    read = reading(set_page, [*columns_of(set_page, marks), *client], marked=False)
    query = read_query(set_page, MultiDict({"q": text})).rows()
    ends = [f"endswith({name},{quoted(text)})" for name in marks if _has_digit(text)]
    queries = [{**query, "search": None, "filter": " or ".join(ends)}] if ends else []
    rows = {
        row["id"]: row
        for options in (*queries, query)
        for row in engine.read(set_page.set_name, **read, top=MOST_OF_A_KIND, **options).rows
    }
    for row in list(rows.values())[:MOST_OF_A_KIND]:
        title, link = named_record(set_page.entity_set.type.name, row)
        numbers = [str(row.get(name) or "") for name in marks]
        names = dict.fromkeys((*numbers, title, (row.get("Client") or {}).get("name")))
        yield (
            any(_is_end(text, number) for number in numbers),
            {
                "name": " · ".join(filter(None, names)),
                "kind": set_page.singular_label,
                "link": link,
            },
        )


def _number_of(item: Mapping[str, Any]) -> str:
    """The number of a client that was found by it."""
    is_number = item["matchedFields"][:1] == ["number"]
    return item["highlight"].striptags() if is_number else ""


def _is_end(text: str, number: str) -> bool:
    """Whether a number is meant: ``00001`` and ``1`` by ``INV-2026-00001``, not by ``T-000001``."""
    if not _has_digit(text) or not number.endswith(text):
        return False
    last = re.split(r"\D", number)[-1]
    return not text.isdecimal() or last == text or last.lstrip("0") == text


def _has_digit(text: str) -> bool:
    return any(letter.isdigit() for letter in text)

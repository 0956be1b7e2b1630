"""The keys of the pages: what they do, and what the palette finds of all records."""

from __future__ import annotations

from collections.abc import Iterator

from flask import Response, jsonify, request
from werkzeug.datastructures import MultiDict

from app.console import engine, wording
from app.console.area import console, page
from app.console.language import marked
from app.console.list_query import read_query
from app.console.named_records import named_record
from app.console.search_page import listed_pages, people_of
from app.errors import ApiError

MOST_PEOPLE, MOST_OF_A_KIND = 6, 3
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
    """All keys."""
    return page("keys.html", keys=KEYS)


@console.get("/palette")
def find_for_palette() -> Response:
    """Records that fit ``q``, as ``{"items": [{"name", "kind", "link"}, ...]}``."""
    text = " ".join(request.args.get("q", "").split())[:200]
    return jsonify({"items": list(_records(text)) if text else []})


def _records(text: str) -> Iterator[dict[str, str]]:
    try:
        people = people_of(text, MOST_PEOPLE)[0]
    except ApiError:  # no word is long enough, or the caller may read none of them
        people = []
    for item in people:
        kind = wording.label(item["type"])
        yield {"name": item["title"], "kind": kind, "link": item["link"]}
    for wanted in listed_pages():
        marks = [name for name in ("number", "code", "sku") if name in wanted.columns]
        select = ",".join(dict.fromkeys(["id", wanted.title, *marks]))
        rows = engine.read(
            wanted.set_name, select=select, top=MOST_OF_A_KIND,
            **read_query(wanted, MultiDict({"q": text})).rows(),
        ).rows  # fmt: skip
        for row in rows:
            title, link = named_record(wanted.entity_set.type.name, row)
            names = dict.fromkeys((*(row.get(name) for name in marks), title))
            yield {"name": " · ".join(filter(None, names)), "kind": wanted.one, "link": link}

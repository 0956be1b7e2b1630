"""Records of every kind that the caller may read: the search of every page, and the palette."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from flask import Response, jsonify, request
from markupsafe import Markup
from werkzeug.datastructures import MultiDict

from app.console import engine, session, wording
from app.console.area import console, page, see_other
from app.console.columns import cells, columns_of, reading
from app.console.language import marked
from app.console.list_query import read_query
from app.console.named_records import named_record
from app.console.sets import Page, page_of
from app.console.wording import words
from app.crm.search.kinds import KINDS
from app.crm.search.service import search
from app.documents.file_search import search_documents
from app.errors import ApiError, ValidationError
from app.http.security import current_caller
from app.kb.search import search_articles
from app.odata.syntax.literals import quoted
from app.permissions import allowed

FOUND = 20
BESIDE = 5
# Kinds of which those that fit are listed as on their own pages.
_LISTED = ("invoices", "tickets", "tasks", "projects", "products")
# Sets whose records people name by their numbers.
_NUMBERED = ("Invoices", "Tickets", "Clients")


@console.get("/search")
def search_everything() -> Response:
    text = " ".join(request.args.get("q", "").split())[:200]
    people: list[dict[str, Any]] = []
    total, problem = 0, None
    if text:
        if address := _by_number(text):
            return see_other(address)
        try:
            people, total = people_of(text, FOUND)
        except ApiError as error:
            problem = error if isinstance(error, ValidationError) else None
    return page(
        "search.html",
        200,  # words that are too short are no wrong address
        found_by=text,
        people=people,
        total=total,
        articles=_articles(text) if text and problem is None else [],
        documents=_documents(text) if text and problem is None else [],
        lists=_lists(text) if text and problem is None else [],
        problem=problem,
    )


def _by_number(text: str) -> str | None:
    """The page of the record whose number was typed."""
    caller = current_caller()
    for name in _NUMBERED:
        if allowed(caller, f"{name.lower()}:read") and "-" in text:
            rows = engine.read(name, filter=f"number eq {quoted(text)}", select="id", top=2).rows
            if len(rows) == 1:
                return f"{session.ROOT}/{name.lower()}/{rows[0]['id']}"
    return None


def people_of(text: str, most: int) -> tuple[list[dict[str, Any]], int]:
    """People, companies and deals with their pages, and how many there are.

    Raises: ValidationError, no word is long enough; ForbiddenError.
    """
    answer = search(text, type="all", limit=most)
    return [_person(item) for item in answer["items"]], answer["total"]


def _person(item: dict[str, Any]) -> dict[str, Any]:
    """An item as pages show it: ``name`` is its title, with the words marked that were found in it;
    ``highlight`` is where else they were found."""
    highlight = Markup(item["highlight"])  # escaped where it was marked
    is_title = highlight.striptags() == item["title"]
    is_deal = item["type"] == "opportunity"  # whose line is its stage
    return {
        **item,
        "name": highlight if is_title else item["title"],
        "subtitle": words(item["subtitle"]) if is_deal else item["subtitle"],
        "link": f"{session.ROOT}/{KINDS[item['type']].table}/{item['id']}",
        "highlight": "" if is_title else highlight,
    }


def listed_pages(paths: Sequence[str] = _LISTED) -> Iterator[Page]:
    """The lists of which what fits is shown, those that the caller may read."""
    for path in paths:
        set_page = page_of(path)
        if allowed(current_caller(), f"{set_page.entity_set.type.resource}:read"):
            yield set_page


def _lists(text: str) -> list[dict[str, Any]]:
    """Records of each kind that has some, with the number of all of them and their list."""
    groups = []
    for set_page in listed_pages():
        query = read_query(set_page, MultiDict({"q": text}))
        result = engine.read(set_page.set_name, count="true", top=BESIDE, **query.options())
        rows = cells(set_page, query.columns, result.rows)
        if rows:
            groups.append(
                {"page": set_page, "columns": query.columns, "rows": rows,
                 "total": int(result.body["@odata.count"])}
            )  # fmt: skip
    return groups


def _articles(text: str) -> list[dict[str, Any]]:
    if not allowed(current_caller(), "kb:read"):
        return []
    result = search_articles(text, limit=BESIDE)
    return [{**article, "snippet": Markup(article["snippet"])} for article in result.items]


def _documents(text: str) -> list[dict[str, Any]]:
    if not allowed(current_caller(), "documents:read"):
        return []
    try:
        items: list[dict[str, Any]] = search_documents(text, limit=BESIDE, offset=0)["items"]
    except ValidationError:  # no word is long enough
        return []
    return items


# --- the keys of the pages, and what their palette finds

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

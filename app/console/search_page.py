"""The search at the top of every page: every kind of record that the caller may read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from flask import Response, request
from markupsafe import Markup
from werkzeug.datastructures import MultiDict

from app.console import engine, session
from app.console.area import console, page, see_other
from app.console.columns import cells
from app.console.list_query import read_query
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
    """What was found of what the caller may read."""
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

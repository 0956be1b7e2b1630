"""Tools that read: the knowledge base, records through the query engine, figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.ai.context import TITLES, data_sets
from app.ai.parts import Citation
from app.ai.provider.toolbox import ModelTool, Use
from app.bi.nlq.answering import LONGEST_QUESTION, answer_question
from app.container import engine
from app.db.types import json_text
from app.errors import ValidationError
from app.events import entity_url
from app.http import schema_bounds as validate, schema_fields as fields
from app.http.page_sizes import TOOL
from app.http.schema_fields import Schema
from app.http.security import current_caller
from app.kb.search import search_articles
from app.kb.use import note_search
from app.permissions import allowed

MOST_ARTICLES = 5
PASSAGES_OF_ONE = 3
_TEXT = validate.Length(1, 1000)
_LONG = validate.Length(1, 2000)


class SearchSchema(Schema):
    """A search in the knowledge base."""

    q = fields.String(required=True, validate=_TEXT)


class QuerySchema(Schema):
    """An OData query, option by option."""

    set = fields.String(required=True, validate=validate.Length(1, 60))
    filter = fields.String(validate=_LONG)
    select = fields.String(validate=_LONG)
    orderby = fields.String(validate=_LONG)
    apply = fields.String(validate=_LONG)
    top = fields.Integer(validate=validate.Range(1, TOOL.largest), load_default=TOOL.default)


class RecordSchema(Schema):
    """One record."""

    set = fields.String(required=True, validate=validate.Length(1, 60))
    id = fields.Integer(required=True, validate=validate.Range(1, 2**63 - 1))


class SetSchema(Schema):
    """A set of records."""

    set = fields.String(required=True, validate=validate.Length(1, 60))


class FiguresSchema(Schema):
    """A question in words."""

    question = fields.String(required=True, validate=validate.Length(1, LONGEST_QUESTION))


def search_kb(given: Mapping[str, Any], use: Use) -> tuple[Any, str]:
    """Articles that fit, with the passages that were found."""
    result = search_articles(given["q"], limit=MOST_ARTICLES)
    note_search(
        given["q"], language=None, total=result.total,
        shown=[found.article["id"] for found in result.found],
    )  # fmt: skip
    rows = []
    for found in result.found:
        article = found.article
        passages = list(found.passages[:PASSAGES_OF_ONE])
        text = "\n".join(filter(None, (article["summary"], *passages)))
        url = entity_url("KbArticle", article["id"])
        number = use.sources.add(
            Citation("KbArticle", article["id"], article["title"], url, text[:300]), text
        )
        rows.append(
            {"source": number, "title": article["title"], "text": text,
             "fit": round(found.score, 2)}
        )  # fmt: skip
    return rows, f"{len(rows)} of {result.total} articles"


def query_records(given: Mapping[str, Any], use: Use) -> tuple[Any, str]:
    """Rows of an OData query; each record is a source, and so is the query."""
    home = _set(given["set"])
    options = {name: value for name, value in given.items() if name != "set"}
    records_read = engine.read_many(home.name, **options)
    url = f"/odata/{home.name}?{engine.query_text(options)}"
    words = f"{home.name} by {', '.join(name for name in options if name != 'top') or 'number'}"
    number = use.sources.add(
        Citation("Query", 0, words, url, f"{len(records_read)} rows"),
        json_text([words, options, records_read]),
    )
    rows = [
        {"source": _source_of(home.type.name, row, use) if "id" in row else number, **row}
        for row in records_read
    ]
    return {"source": number, "rows": rows}, url[:300]


def read_record(given: Mapping[str, Any], use: Use) -> tuple[Any, str]:
    """All that the caller may see of a record."""
    home = _set(given["set"])
    row = engine.read_one(f"{home.name}({given['id']})")
    properties = {name: value for name, value in row.items() if value not in (None, "", [], {})}
    number = _source_of(home.type.name, row, use)
    return {"source": number, "record": properties}, f"{home.type.name} {given['id']}"


def describe_set(given: Mapping[str, Any], use: Use) -> tuple[Any, str]:
    """The properties of a set, for writing a query."""
    home = _set(given["set"])
    properties = {
        name: " ".join(
            filter(None, (declared.type.name, f"one of {', '.join(declared.allowed)}"
                          if declared.allowed else ""))
        )
        for name, declared in home.type.properties.items()
    }  # fmt: skip
    links = {name: link.target for name, link in home.type.navigation.items()}
    return {"set": home.name, "properties": properties, "navigation": links}, home.name


def ask_figures(given: Mapping[str, Any], use: Use) -> tuple[Any, str]:
    """What the figures say to a question in words."""
    figures = answer_question(given["question"], limit=TOOL.largest)
    url = str((figures.get("query") or {}).get("odata") or "")
    report = {
        name: figures.get(name)
        for name in ("status", "interpretation", "answer", "rows", "alternatives", "confidence")
        if figures.get(name)
    }
    if figures["status"] == "answered" and url:
        title = str(figures.get("interpretation") or given["question"]).rstrip(".")
        snippet = str(figures["answer"])[:300]
        citation = Citation("Query", 0, title, url, snippet)
        report["source"] = use.sources.add(citation, json_text([given["question"], report]))
    return report, url or str(figures["status"])


def _source_of(entity: str, row: Mapping[str, Any], use: Use) -> int:
    key = int(row["id"])
    title = row.get(TITLES.get(entity, "name")) or f"{entity} {key}"
    citation = Citation(entity, key, str(title), entity_url(entity, key))
    return use.sources.add(citation, json_text([entity, row]))


def _set(name: str) -> Any:
    entity_set = data_sets().get(name.lower())
    if entity_set is None:
        known = ", ".join(home.name for home in data_sets().values())
        raise ValidationError([("set", f"must be one of {known}")])
    return entity_set


def _may(permission: str) -> bool:
    return allowed(current_caller(), permission)


_SET = {"type": "string", "description": "Name of an entity set, such as Clients."}
READING = (
    ModelTool(
        "search_kb", "Find articles of the knowledge base: how-to, policies, troubleshooting.",
        {"q": {"type": "string", "description": "The question, or its main words."}},
        SearchSchema, search_kb, lambda: _may("kb:read"),
    ),
    ModelTool(
        "ask_figures",
        "Ask for counts, sums, rankings and lists over business records in plain English, such as"
        " 'revenue by month this year'. Prefer it for anything that is counted or added up.",
        {"question": {"type": "string"}},
        FiguresSchema, ask_figures, lambda: _may("bi:query"),
    ),
    ModelTool(
        "query_records", "Read records by an OData v4 query. Ask describe_set for names first.",
        {
            "set": _SET,
            "filter": {"type": "string", "description": "$filter, such as status eq 'Open'"},
            "select": {"type": "string", "description": "$select; include id"},
            "orderby": {"type": "string"},
            "apply": {"type": "string", "description": "$apply, for groups and sums"},
            "top": {"type": "integer", "minimum": 1, "maximum": TOOL.largest},
        },
        QuerySchema, query_records, lambda: True,
    ),
    ModelTool(
        "read_record", "Read one record with all its properties.",
        {"set": _SET, "id": {"type": "integer"}}, RecordSchema, read_record, lambda: True,
    ),
    ModelTool(
        "describe_set", "The properties, values and relations of a set.",
        {"set": _SET}, SetSchema, describe_set, lambda: True,
    ),
)  # fmt: skip

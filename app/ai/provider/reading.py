"""Tools that read: the knowledge base, records through the query engine, figures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from app.ai.context import cited, data_sets, title_of
from app.ai.parts import Citation
from app.ai.provider.toolbox import ModelTool, Use
from app.ai.tools.tool import arguments_schema
from app.bi.answering import LONGEST_QUESTION, answer_question
from app.container import engine
from app.db.types import json_text
from app.errors import ValidationError
from app.http import schema_bounds as validate, schema_fields as fields
from app.http.areas import load
from app.http.page_sizes import TOOL
from app.http.schema_fields import Schema
from app.http.security import current_caller
from app.kb.search import search_articles
from app.kb.usage import note_search
from app.permissions import allowed

MOST_ARTICLES = 5
PASSAGES_OF_ONE = 3
_TEXT = validate.Length(1, 1000)
_LONG = validate.Length(1, 2000)


def _set_name() -> fields.String:
    return fields.String(
        required=True,
        validate=validate.Length(1, 60),
        description="Name of an entity set, such as Clients.",
    )


class SearchSchema(Schema):
    """A search in the knowledge base."""

    q = fields.String(required=True, validate=_TEXT, description="The question, or its main words.")


class QuerySchema(Schema):
    """An OData query, option by option."""

    set = _set_name()
    filter = fields.String(validate=_LONG, description="$filter, such as status eq 'Open'")
    select = fields.String(validate=_LONG, description="$select; include id")
    orderby = fields.String(validate=_LONG)
    apply = fields.String(validate=_LONG, description="$apply, for groups and sums")
    top = fields.Integer(validate=validate.Range(1, TOOL.largest), load_default=TOOL.default)


class RecordSchema(Schema):
    """The set and the key that a model reads by."""

    set = _set_name()
    id = fields.Integer(required=True, validate=validate.RECORD_KEY)


class SetSchema(Schema):
    """A set of records."""

    set = _set_name()


class FiguresSchema(Schema):
    """A question in words."""

    question = fields.String(required=True, validate=validate.Length(1, LONGEST_QUESTION))


def search_kb(arguments: Mapping[str, Any], use: Use) -> tuple[Any, str]:
    """Articles that fit, with the passages that were found."""
    result = search_articles(arguments["q"], limit=MOST_ARTICLES)
    note_search(arguments["q"], result)
    rows = []
    for hit in result.found:
        article = hit.article
        passages = list(hit.passages[:PASSAGES_OF_ONE])
        text = "\n".join(filter(None, (article["summary"], *passages)))
        source = cited("KbArticle", article["id"], article["title"], text[:300])
        number = use.sources.add(source, text)
        rows.append(
            {"source": number, "title": article["title"], "text": text,
             "fit": round(hit.score, 2)}
        )  # fmt: skip
    return rows, f"{len(rows)} of {result.total} articles"


def query_records(arguments: Mapping[str, Any], use: Use) -> tuple[Any, str]:
    """Rows of an OData query; each record is a source, and so is the query."""
    home = _set(arguments["set"])
    options = {name: value for name, value in arguments.items() if name != "set"}
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


def read_record(arguments: Mapping[str, Any], use: Use) -> tuple[Any, str]:
    """All that the caller may see of a record."""
    home = _set(arguments["set"])
    row = engine.read_one(f"{home.name}({arguments['id']})")
    properties = {name: value for name, value in row.items() if value not in (None, "", [], {})}
    number = _source_of(home.type.name, row, use)
    return {"source": number, "record": properties}, f"{home.type.name} {arguments['id']}"


def describe_set(arguments: Mapping[str, Any], use: Use) -> tuple[Any, str]:
    """The properties of a set, for writing a query."""
    home = _set(arguments["set"])
    properties = {
        name: " ".join(
            filter(None, (declared.type.name, f"one of {', '.join(declared.allowed)}"
                          if declared.allowed else ""))
        )
        for name, declared in home.type.properties.items()
    }  # fmt: skip
    links = {name: link.target for name, link in home.type.navigation.items()}
    return {"set": home.name, "properties": properties, "navigation": links}, home.name


def ask_figures(arguments: Mapping[str, Any], use: Use) -> tuple[Any, str]:
    """What the figures say to a question in words."""
    figures = answer_question(arguments["question"], limit=TOOL.largest)
    url = str((figures.get("query") or {}).get("odata") or "")
    report = {
        name: figures.get(name)
        for name in ("status", "interpretation", "answer", "rows", "alternatives", "confidence")
        if figures.get(name)
    }
    if figures["status"] == "answered" and url:
        title = str(figures.get("interpretation") or arguments["question"]).rstrip(".")
        snippet = str(figures["answer"])[:300]
        citation = Citation("Query", 0, title, url, snippet)
        report["source"] = use.sources.add(citation, json_text([arguments["question"], report]))
    return report, url or str(figures["status"])


def _source_of(entity: str, row: Mapping[str, Any], use: Use) -> int:
    citation = cited(entity, int(row["id"]), title_of(entity, row))
    return use.sources.add(citation, json_text([entity, row]))


def _set(name: str) -> Any:
    entity_set = data_sets().get(name.lower())
    if entity_set is None:
        choices = ", ".join(home.name for home in data_sets().values())
        raise ValidationError([("set", f"must be one of {choices}")])
    return entity_set


def reading() -> Iterator[ModelTool]:
    """The tools with which the caller may read something."""
    for permission, run, schema, description in _TOOLS:
        if permission is None or allowed(current_caller(), permission):
            yield ModelTool(
                run.__name__,
                description,
                partial(arguments_schema, schema),
                partial(load, schema()),
                run,
            )


_TOOLS: tuple[
    tuple[str | None, Callable[[Mapping[str, Any], Use], tuple[Any, str]], type[Schema], str], ...
] = (
    ("kb:read", search_kb, SearchSchema,
     "Find articles of the knowledge base: how-to, policies, troubleshooting."),
    ("bi:query", ask_figures, FiguresSchema,
     "Ask for counts, sums, rankings and lists over business records in plain English, such as"
     " 'revenue by month this year'. Prefer it for anything that is counted or added up."),
    (None, query_records, QuerySchema,
     "Read records by an OData v4 query. Ask describe_set for names first."),
    (None, read_record, RecordSchema, "Read one record with all its properties."),
    (None, describe_set, SetSchema, "The properties, values and relations of a set."),
)  # fmt: skip

"""The system query options and headers of OData requests, each with what it does."""

from __future__ import annotations

from typing import Any

from app.db.types import json_text
from app.http.page_sizes import ODATA
from app.odata.model import edm

Parameter = dict[str, Any]


def _query(name: str, description: str, schema: dict[str, Any], example: Any) -> Parameter:
    # The example is the schema's: one of the parameter's own would be filled in on the page, and
    # whoever tries a request there would send all options at once.
    text = example if isinstance(example, str) else json_text(example)
    return {
        "name": name,
        "in": "query",
        "description": f"{description} Example: `{text}`.",
        "schema": schema | {"examples": [example]},
    }


def _header(name: str, description: str, example: str) -> Parameter:
    return _query(name, description, {"type": "string"}, example) | {"in": "header"}


TOP = _query("$top", "At most so many rows.", {"type": "integer", "minimum": 0}, 10)
SKIP = _query("$skip", "Leave out so many rows first.", {"type": "integer", "minimum": 0}, 0)
COUNT = _query(
    "$count", "Tell the number of all rows as `@odata.count`.", {"type": "boolean"}, True
)
PREFER = _header(
    "Prefer",
    "`return=minimal`: answer 204 without a body; `return=representation`: with the record."
    f" `odata.maxpagesize=100`: rows of a page (1 to {ODATA.largest}).",
    "return=representation",
)
IF_MATCH = _header(
    "If-Match", "The `@odata.etag` that was read, or `*`: refuse with 412 if it is stale.", "*"
)
IF_NONE_MATCH = _header(
    "If-None-Match", "The `@odata.etag` that was read: answer 304 if it is still right.", 'W/"1"'
)
SHARED = {
    "top": TOP,
    "skip": SKIP,
    "count": COUNT,
    "prefer": PREFER,
    "ifMatch": IF_MATCH,
    "ifNoneMatch": IF_NONE_MATCH,
}


def of_collection(type_: edm.EntityType) -> list[Parameter]:
    """References to the options of a request for entities of a type."""
    own = [reference(f"{name}-{type_.name}") for name in _own(type_)]
    return [*own, *(reference(name) for name in ("top", "skip", "count", "prefer"))]


def of_count(type_: edm.EntityType) -> list[Parameter]:
    """References to the options of a request for a number."""
    return [reference(f"{name}-{type_.name}") for name in _own(type_) if name in _COUNTING]


def of_entity(type_: edm.EntityType) -> list[Parameter]:
    """References to the options that shape one entity."""
    return [reference(f"{name}-{type_.name}") for name in _own(type_) if name in _SHAPING]


def components(container: edm.EntityContainer) -> dict[str, Parameter]:
    """The parameters, as the document names them."""
    parameters = dict(SHARED)
    for type_ in container.types.values():
        parameters |= {f"{name}-{type_.name}": parameter for name, parameter in _own(type_).items()}
    return {f"odata-{name}": parameter for name, parameter in parameters.items()}


def reference(name: str) -> Parameter:
    """A reference to a parameter."""
    return {"$ref": f"#/components/parameters/odata-{name}"}


_COUNTING = ("filter", "search")
_SHAPING = ("select", "expand")


def _own(type_: edm.EntityType) -> dict[str, Parameter]:
    """The options whose examples and descriptions name properties of a type."""
    text = _first_text(type_)
    parameters = {
        "filter": _query(
            "$filter",
            "Which rows: `eq ne gt ge lt le in and or not`, `contains startswith endswith`,"
            " arithmetic, dates (`createdAt gt 2026-01-01`), related rows (`any`, `all`).",
            {"type": "string"},
            f"contains({text},'a')" if text else f"{type_.key[0]} ne null",
        ),
        "orderby": _query(
            "$orderby",
            "Which order: properties or expressions, each `asc` or `desc`.",
            {"type": "string"},
            f"{text or type_.key[0]} desc",
        ),
        "select": _query(
            "$select",
            "Which properties: names with commas between; all by default.",
            {"type": "string"},
            ",".join([*type_.key, *([text] if text else [])]),
        ),
    }
    if names := list(type_.navigation):
        parameters["expand"] = _query(
            "$expand",
            "Which related rows, with options in parentheses:"
            f" `{names[0]}($select=id)`. There are: {', '.join(names)}.",
            {"type": "string"},
            names[0],
        )
    if any(prop.searchable for prop in type_.properties.values()):
        parameters["search"] = _query(
            "$search",
            'Rows with these words: `word "a phrase" AND OR NOT`, case and accents ignored.',
            {"type": "string"},
            "acme",
        )
    return parameters


def _first_text(type_: edm.EntityType) -> str | None:
    """A property to show expressions with: a text, rather one that is searched."""
    texts = [
        prop.name
        for prop in type_.properties.values()
        if prop.type == edm.STRING and not prop.allowed and not prop.on_request
    ]
    searchable = [name for name in texts if type_.properties[name].searchable]
    return next(iter(searchable or texts), None)

"""The system query options and headers of OData requests, each with what it does."""

from __future__ import annotations

from typing import Any

from app.odata import edm

Parameter = dict[str, Any]


def _query(name: str, description: str, schema: dict[str, Any], example: Any) -> Parameter:
    return {
        "name": name,
        "in": "query",
        "description": description,
        "schema": schema,
        "example": example,
    }


def _header(name: str, description: str, example: str) -> Parameter:
    return {
        "name": name,
        "in": "header",
        "description": description,
        "schema": {"type": "string"},
        "example": example,
    }


TOP = _query("$top", "At most so many rows.", {"type": "integer", "minimum": 0}, 10)
SKIP = _query("$skip", "Leave out so many rows first.", {"type": "integer", "minimum": 0}, 0)
COUNT = _query(
    "$count", "`true`: tell the number of all rows as `@odata.count`.", {"type": "boolean"}, True
)
PREFER = _header(
    "Prefer",
    "`return=minimal`: answer 204 without a body; `return=representation`: with the record."
    " `odata.maxpagesize=100`: rows of a page (1 to 5000).",
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


def shared(name: str) -> Parameter:
    """A reference to a parameter of ``SHARED``."""
    return {"$ref": f"#/components/parameters/odata-{name}"}


def components() -> dict[str, Parameter]:
    """The shared parameters, as the document names them."""
    return {f"odata-{name}": parameter for name, parameter in SHARED.items()}


def filter_(type_: edm.EntityType) -> Parameter:
    """$filter, with an expression that this type understands."""
    name = _first_text(type_)
    example = f"contains({name},'a')" if name else f"{type_.key[0]} ne null"
    return _query(
        "$filter",
        "Which rows: `eq ne gt ge lt le in and or not`, `contains startswith endswith`,"
        " arithmetic, dates (`createdAt gt 2026-01-01`), related rows (`any`, `all`).",
        {"type": "string"},
        example,
    )


def orderby(type_: edm.EntityType) -> Parameter:
    """$orderby, by a property of this type."""
    name = _first_text(type_) or type_.key[0]
    description = "Which order: properties or expressions, each `asc` or `desc`."
    return _query("$orderby", description, {"type": "string"}, f"{name} desc")


def select(type_: edm.EntityType) -> Parameter:
    """$select, of the key and a text."""
    names = [*type_.key, *filter(None, [_first_text(type_)])]
    description = "Which properties: names with commas between; all by default."
    return _query("$select", description, {"type": "string"}, ",".join(names))


def expand(type_: edm.EntityType) -> Parameter | None:
    """$expand; None where nothing is related."""
    names = list(type_.navigation)
    if not names:
        return None
    return _query(
        "$expand",
        "Which related rows, with options in parentheses: "
        f"`{names[0]}($select={'id'};$top=5)`. There are: {', '.join(names)}.",
        {"type": "string"},
        names[0],
    )


def search(type_: edm.EntityType) -> Parameter | None:
    """$search; None where no property is searched."""
    if not any(prop.searchable for prop in type_.properties.values()):
        return None
    description = 'Rows with these words: `word "a phrase" AND OR NOT`, case and accents ignored.'
    return _query("$search", description, {"type": "string"}, "acme")


def _first_text(type_: edm.EntityType) -> str | None:
    texts = [
        prop.name
        for prop in type_.properties.values()
        if prop.type == edm.STRING and not prop.allowed and not prop.on_request
    ]
    searchable = [name for name in texts if type_.properties[name].searchable]
    return next(iter(searchable or texts), None)

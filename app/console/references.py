"""Fields that name another record: shown and typed as people call it, with suggestions.

``Quarz Partner (C-000001)``, ``Label printing (#7)``: what stands in the parentheses decides; a
name alone is enough where only one record has it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from flask import Response, jsonify, request

from app.console.area import console
from app.console.choices import search_phrase
from app.console.language import translated
from app.console.typed import MistypedError, key_in
from app.container.engine import read_by_id, read_many
from app.container.model import referred_by
from app.errors import ApiError, NotFoundError
from app.odata.model import edm
from app.odata.syntax.literals import quoted

SUGGESTED = 10
# So many names are told where what was typed is not that of one record.
MEANT = 3
_MOST_TYPED = 200
_MARKED = re.compile(r"\((#?)([^()]+)\)\s*$")


class Kind(NamedTuple):
    """How the records of a type are called: their set, their name, and what marks one of them.

    ``suggested`` is the condition of those that are suggested while one types.
    """

    set_name: str
    title: str
    mark: str = "id"
    suggested: str | None = None


KINDS: Mapping[str, Kind] = {
    "Client": Kind("Clients", "name", "number"),
    "Contact": Kind("Contacts", "fullName"),
    "Opportunity": Kind("Opportunities", "name"),
    "Invoice": Kind("Invoices", "number"),
    "Ticket": Kind("Tickets", "subject", "number"),
    "KbArticle": Kind("KbArticles", "title"),
    "Task": Kind("Tasks", "title"),
    "Project": Kind("Projects", "name", "code"),
    "Product": Kind("Products", "name", "sku", "isActive"),
    "User": Kind("Users", "displayName"),
}


def referred_to(type_: edm.EntityType, property_: edm.Property) -> Kind | None:
    """What a property refers to; None for one that is no reference."""
    return KINDS.get(referred_by(type_).get(property_.attribute, ""))


def named(kind: Kind, key: int) -> str:
    """A record as the field shows it; ``#7`` alone for one that the caller may not read."""
    return all_named(kind, [key])[key]


def all_named(kind: Kind, keys: Sequence[int]) -> Mapping[int, str]:
    """Records as ``named`` shows each of them, read at once."""
    try:
        rows = read_by_id(kind.set_name, keys, _read(kind))
    except ApiError:
        rows = {}
    return {key: _text(kind, rows[key]) if key in rows else f"#{key}" for key in keys}


def find(kind: Kind, typed: str) -> int:
    """The key of the record that was typed: by its mark, its key or its whole name.

    Raises: MistypedError, it names no record, or more than one; an ApiError where the caller may
        read none of them.
    """
    text = typed.strip()
    if (key := key_in(text.lstrip("#"))) is not None:
        return key
    if match := _MARKED.search(text):
        if match[1] or kind.mark == "id":
            if (key := key_in(match[2])) is not None:
                return key
        elif rows := _matching(kind, f"{kind.mark} eq {quoted(match[2])}"):
            return int(rows[0]["id"])
    rows = _matching(kind, f"{kind.title} eq {quoted(text)}")
    if kind.mark != "id" and not rows:
        rows = _matching(kind, f"{kind.mark} eq {quoted(text)}")
    if len(rows) != 1:
        raise MistypedError(_which(kind, text))
    return int(rows[0]["id"])


def _which(kind: Kind, text: str) -> str:
    """What is said of a name that is not that of one record: the names that were meant, perhaps."""
    names = _suggested(kind, text)
    if not names:
        return translated("is the name of no record")
    some = "; ".join(names[:MEANT])
    if len(names) > MEANT:
        return translated(
            "fits several records: type one of these or more of the name: %(names)s", names=some
        )
    return translated(
        "fits these records: type one of them as it stands here: %(names)s", names=some
    )


@console.get("/choices/<name>")
def suggest(name: str) -> Response:
    """Records whose name contains ``q``, as ``{"items": [text, ...]}``, for a field to suggest."""
    kind = next((each for each in KINDS.values() if each.set_name.lower() == name), None)
    if kind is None:
        raise NotFoundError(translated("There is no such list."))
    return jsonify({"items": _suggested(kind, request.args.get("q", ""))})


def _suggested(kind: Kind, typed: str) -> list[str]:
    """The names of the first records that contain what was typed."""
    typed = typed.strip()[:_MOST_TYPED]
    options = {"select": f"id,{_read(kind)}", "orderby": kind.title, "top": SUGGESTED}
    if kind.suggested is not None:
        options["filter"] = kind.suggested
    rows = read_many(kind.set_name, **options, **(_narrowed(kind, typed) if typed else {}))
    return [_text(kind, row) for row in rows]


def _narrowed(kind: Kind, typed: str) -> dict[str, str]:
    """The options that keep what contains the words, whatever their case."""
    if kind.set_name == "Users":  # the directory has no index to search in, and needs none
        return {"filter": f"contains(tolower({kind.title}),{quoted(typed.lower())})"}
    phrase = search_phrase(typed)
    return {"search": phrase} if phrase else {}


def _matching(kind: Kind, condition: str) -> list[dict[str, Any]]:
    return read_many(kind.set_name, filter=condition, select="id", top=2)


def _read(kind: Kind) -> str:
    return kind.title if kind.mark == "id" else f"{kind.title},{kind.mark}"


def _text(kind: Kind, row: Mapping[str, Any]) -> str:
    key = f"#{row['id']}"
    mark = key if kind.mark == "id" else row.get(kind.mark) or key
    title = row.get(kind.title)
    return f"{title} ({mark})" if title else key

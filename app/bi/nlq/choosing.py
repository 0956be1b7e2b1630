"""A question once for each of the records that a name in it may be."""

from __future__ import annotations

from collections.abc import Sequence

from app.bi.nlq.named import Value
from app.bi.query import Query, run
from app.errors import ApiError

MOST_CHOICES = 4
# The number of a record, and what else tells it from others of its name.
_TELLING = {
    "client": ("Clients", "number", "billingAddress/city"),
    "project": ("Projects", "code", "Client/name"),
}


def choices(question: str, text: str, values: Sequence[Value]) -> list[str]:
    """The question with each record in place of the name; numbers where names are alike."""
    kept = values[:MOST_CHOICES]
    alike = len({one.name for one in kept}) < len(kept)
    said = [_told(one) if alike else f'"{one.name}"' for one in kept]
    text = f'"{text}"' if f'"{text}"' in question else text
    return list(dict.fromkeys(question.replace(text, one, 1) for one in said))


def _told(value: Value) -> str:
    """``P-000012 (Electronic invoices, ACME)``: what stands in brackets is for the reader."""
    if value.kind not in _TELLING:
        return f'"{value.name}"'
    set_name, number, other = _TELLING[value.kind]
    parent, _, part = other.partition("/")
    options = {"filter": f"id eq {value.key}", "top": "1", "select": f"id,{number}"}
    if value.kind == "client":
        options["select"] += f",{parent}"
    else:
        options["expand"] = f"{parent}($select={part})"
    try:
        rows = run(Query(set_name, options), 1).rows
    except ApiError:
        rows = []
    if not rows or not rows[0].get(number):
        return f'"{value.name}"'
    more = rows[0].get(other) or (rows[0].get(parent) or {}).get(part)
    return f"{rows[0][number]} ({value.name}{f', {more}' if more else ''})"

"""Links to the rest of an expanded collection that has more than a page (Protocol 11.2.6.7).

The database writes a mark behind the last member, with the sort keys of this one, between
characters that stand nowhere in JSON: what a link says of the literals of a query is known only
where it runs, and hardly any answer has one (docs/adr/0020).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any
from urllib.parse import quote

from app.db.types import json_text
from app.odata.errors import QueryError
from app.odata.reading.query import PageStart, next_link
from app.odata.sql.dialect_sql import Part
from app.odata.syntax.nodes import It, Literal, Node, QueryOptions, descendants
from app.odata.syntax.printer import query_text

# Related entities that one row shows at most.
_MARK = "\x01"
_LINK = re.compile(
    rf"{_MARK}(?P<number>\d+) (?P<name>\S+) (?P<path>[^{_MARK}]*)"
    rf"{_MARK}(?P<after>[^{_MARK}]*){_MARK}\]"
)

# Seals where a page begins, for an address below the root and its query string.
MakeToken = Callable[[str, str, PageStart], str]


@dataclass(frozen=True, slots=True)
class Remainder:
    """Where an expanded collection is read by itself; ``number`` is that of its options.

    ``is_deep``: it is on the last level, where nobody looks whether there is more: SQLite's parser
    takes no deeper query.
    """

    number: int
    address: Sequence[Part]
    is_deep: bool

    def mark(self, name: str, last: Sequence[Part]) -> list[Part]:
        """What stands behind the last member in place of the link, which is called ``name``.

        Args:
            last: the sort keys of that member; nothing where they do not tell what comes after it.
        """
        return [f"{_MARK}{self.number} {name} ", *self.address, _MARK, *last, _MARK]


def with_links(
    text: str,
    options: Sequence[QueryOptions],
    literals: Sequence[Any],
    *,
    root: str,
    page: int,
    others: Mapping[str, str],
    make_token: MakeToken,
) -> str:
    """An answer with links where the database left the mark of one.

    Args:
        options: those of each expanded collection, by number.
        literals: of the query, by slot.
        page: the members that are in the answer.
        others: the texts of what else a link needs of the query, such as its parameter aliases, by
            name with ``@`` or ``$``.
    Raises: QueryError, no query of the collection alone has the other members.
    """

    def link(match: re.Match[str]) -> str:
        query_options: QueryOptions = _filled(options[int(match["number"])], literals)
        _refuse_root(query_options, page)
        key_conditions = [
            f"{name}={quote(value, safe='')}"
            for name, value in others.items()
            if name.startswith("$") or name[1:] not in query_options.aliases
        ]
        query = "&".join(filter(None, [query_text(query_options), *key_conditions]))
        path = match["path"]
        token = make_token(path, query, _start(query_options, match["after"], page))
        url = json_text(next_link(root, path, query, token))
        return f'],"{match["name"]}":{url}'

    return _LINK.sub(link, text) if _MARK in text else text


def _start(options: QueryOptions, after: str, page: int) -> PageStart:
    """Where what comes after ``page`` members begins: behind sort keys, else at a position."""
    left = None if options.top is None else options.top.number - page
    if after:
        return PageStart(json.loads(after), left)
    skipped = 0 if options.skip is None else options.skip.number
    return PageStart([skipped + page], left)


def _refuse_root(options: QueryOptions, page: int) -> None:
    if any(isinstance(node, It) for node, _ in descendants(options)):
        raise QueryError(
            f"more than {page} entities are expanded, and $it does not tell the others:"
            " write the condition without it, or read them by themselves",
            0,
            "$expand",
        )


def _filled(value: Any, literals: Sequence[Any]) -> Any:
    """Syntax with the literals of this query in place of those that its plan was made with."""
    match value:
        case Literal(slot=int(slot)):
            return replace(value, value=literals[slot])
        case Node() | QueryOptions():
            filled = {
                field.name: _filled(getattr(value, field.name), literals) for field in fields(value)
            }
            return replace(value, **filled)
        case tuple():
            return tuple(_filled(member, literals) for member in value)
        case dict():
            return {name: _filled(member, literals) for name, member in value.items()}
    return value

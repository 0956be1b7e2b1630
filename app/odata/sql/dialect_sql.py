"""Expressions that each database spells in its own way, and text with expressions in it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import BindParameter, Boolean, ColumnElement, FromClause, ScalarSelect, Text
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql import ClauseElement
from sqlalchemy.sql.elements import (
    BinaryExpression,
    BooleanClauseList,
    KeyedColumnElement,
    UnaryExpression,
)
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.sql.selectable import SelectBase
from sqlalchemy.types import TypeEngine, to_instance

# Both functions that fill a template take at most 100 arguments on PostgreSQL, the first of
# which is the template.
_MOST_ARGUMENTS = 90

_PLACE = re.compile(r"\{(\d+)\}")

# What needs parentheses beside an operator of the template.
_OPERATIONS = (BinaryExpression, UnaryExpression, BooleanClauseList)

Part = str | ColumnElement[Any]


class DialectSql(FunctionElement[Any]):
    """One expression with a template per database; ``{0}`` stands for the first argument.

    A template brings its own parentheses: operators may stand on both sides of it. Values among
    the arguments become parameters.
    """

    inherit_cache = False

    def __init__(
        self, type_: TypeEngine[Any] | type[TypeEngine[Any]], sqlite: str, postgresql: str,
        *arguments: Any,
    ) -> None:  # fmt: skip
        super().__init__(*arguments)
        self.type = to_instance(type_)
        self.sqlite = sqlite
        self.postgresql = postgresql

    @property
    def repeats(self) -> Sequence[tuple[int, int]]:
        """How often each argument is written on SQLite, and how often on PostgreSQL."""
        sqlite, postgresql = _places(self.sqlite), _places(self.postgresql)
        return [(sqlite[str(at)], postgresql[str(at)]) for at in range(len(self.clauses))]


@lru_cache(1000)
def _places(template: str) -> Counter[str]:
    return Counter(_PLACE.findall(template))


@compiles(DialectSql)
def _compile_spelled(element: DialectSql, compiler: Any, **options: Any) -> str:
    if compiler.dialect.name == "sqlite":
        template = element.sqlite
    else:  # psycopg takes a percent sign for the start of a parameter unless it is doubled
        template = element.postgresql.replace("%", "%%")
    arguments = list(element.clauses)
    written: dict[str, str] = {}

    def argument(match: re.Match[str]) -> str:
        index = match[1]
        if index not in written:  # one that this database does not need is never compiled
            element = arguments[int(index)]
            text = compiler.process(element, **options)
            written[index] = f"({text})" if isinstance(element, _OPERATIONS) else text
        return written[index]

    return _PLACE.sub(argument, template)


class Predicate(DialectSql):
    """A condition: it stands in WHERE as it is spelled, where an index can serve it.

    SQLAlchemy would write ``(...) = 1`` around it, because SQLite has no Boolean type.
    """

    inherit_cache = False

    def __init__(self, sqlite: str, postgresql: str, *arguments: Any) -> None:
        super().__init__(Boolean(), sqlite, postgresql, *arguments)

    def self_group(self, against: Any = None) -> Any:
        return self


def spell(
    type_: TypeEngine[Any] | type[TypeEngine[Any]], template: str, *arguments: Any
) -> DialectSql:
    """An expression that both databases spell alike."""
    return DialectSql(type_, template, template, *arguments)


class Conversions(DialectSql):
    """A part of a template that ``printf`` writes by conversions of its own, at no extra call.

    ``sqlite`` has what fills the conversions, a line feed between one and the next.
    """

    inherit_cache = False

    def __init__(
        self, conversions: str, fillers: Iterable[str], postgresql: str, *arguments: Any
    ) -> None:
        super().__init__(Text(), "\n".join(fillers), postgresql, *arguments)
        self.conversions = conversions


class Template(FunctionElement[str]):
    """Text with expressions in it, none of which may be null.

    ``printf`` and ``format`` build it in one pass: joining with ``||`` copies what is there once
    more for every part, and costs twice as much for a row of fifty columns.

    Args:
        alone: no operator will stand beside it, so that it needs no parentheses, each of which
            takes of the depth that SQLite's parser has.
    """

    inherit_cache = False
    type = Text()

    def __init__(self, parts: Iterable[Part], *, alone: bool = False) -> None:
        self.parts = tuple(_merged(parts))
        self.alone = alone
        super().__init__(*(part for part in self.parts if not isinstance(part, str)))


@compiles(Template)
def _compile_template(element: Template, compiler: Any, **options: Any) -> str:
    sqlite = compiler.dialect.name == "sqlite"
    percent = "%" if sqlite else "%%"
    calls: list[list[str]] = [[""]]  # of each the template, then what fills it
    texts: list[str] = []
    expressions = iter(element.clauses)
    for part in element.parts:
        if isinstance(part, str):
            calls[-1][0] += part.replace("%", percent * 2).replace("'", "''")
            continue
        if len(calls[-1]) > _MOST_ARGUMENTS:
            calls.append([""])
        written = compiler.process(next(expressions), **options)
        if sqlite and isinstance(part, ScalarSelect):
            # Among arguments it would stand too deep: SQLite's parser has a stack of 100, and
            # expanded entities have expanded ones in turn.
            texts += [*_calls("printf", calls), written]
            calls = [[""]]
        elif sqlite and isinstance(part, Conversions):
            calls[-1][0] += part.conversions
            calls[-1] += written.split("\n")
        else:
            calls[-1][0] += percent + "s"
            calls[-1].append(written)
    texts += _calls("printf" if sqlite else "format", calls)
    joined = " || ".join(texts)
    return joined if len(texts) == 1 or element.alone else f"({joined})"


def _merged(parts: Iterable[Part]) -> Iterable[Part]:
    """``parts`` with neighbouring pieces of text made one, and with those of templates inside."""
    text = ""
    flat = (
        piece for part in parts for piece in (part.parts if isinstance(part, Template) else (part,))
    )
    for part in flat:
        if isinstance(part, str):
            text += part
            continue
        if text:
            yield text
            text = ""
        yield part
    if text:
        yield text


def _calls(function: str, calls: Iterable[Sequence[str]]) -> list[str]:
    """The calls that have something to write."""
    return [
        f"{function}('{text}'{''.join(f', {argument}' for argument in rest)})"
        for text, *rest in calls
        if text or rest
    ]


_KEPT = "odata_weight"
Both = tuple[int, int]  # on SQLite, on PostgreSQL


def estimated_size(expression: ClauseElement) -> int:
    """The number of parts on the database that has more of them; a column of a derived table has
    those of what it is there.
    """
    return max(_on_both(expression))


def _on_both(expression: ClauseElement) -> Both:
    known: Both | None = vars(expression).get(_KEPT)
    if known is None:
        known = vars(expression)[_KEPT] = _weighed(expression)
    return known


def _weighed(expression: ClauseElement) -> Both:
    if isinstance(expression, BindParameter):
        return 1, 1
    if isinstance(expression, DialectSql):
        sqlite = postgresql = 1
        for part, (on_sqlite, on_postgresql) in zip(
            expression.clauses, expression.repeats, strict=True
        ):
            own = _on_both(part)
            sqlite, postgresql = sqlite + on_sqlite * own[0], postgresql + on_postgresql * own[1]
        return sqlite, postgresql
    if isinstance(expression, KeyedColumnElement):
        return _of_column(expression)
    if isinstance(expression, FromClause) and not isinstance(expression, SelectBase):
        return 1, 1
    children: Iterable[ClauseElement] = expression.get_children()
    parts = [(1, 1), *map(_on_both, children)]
    return sum(part[0] for part in parts), sum(part[1] for part in parts)


def _of_column(column: ColumnElement[Any]) -> Both:
    """A column of a table is one part, one of a derived table what it is there."""
    bases = [_on_both(base) for base in column.base_columns if base is not column]
    return max((base[0] for base in bases), default=1), max((base[1] for base in bases), default=1)

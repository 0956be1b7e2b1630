"""Which rows of an expanded collection are shown, how many there are, and the mark of a link."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Text,
    and_,
    bindparam,
    func,
    literal_column,
    select,
)

from app.odata.model import edm
from app.odata.reading.bound import BoundQuery, ExpandMember
from app.odata.reading.expansion_links import KEYS
from app.odata.reading.json_format import Format
from app.odata.reading.keyset import continues_by_key, key_json
from app.odata.reading.statement import RUN
from app.odata.sql.dialect_sql import DialectSql, Part, Template, spell
from app.odata.sql.json_values import json_parts

# How many related entities a row shows at most.
_PAGE = bindparam(f"{RUN}expanded", type_=BigInteger(), required=True)


def with_keys(text: ColumnElement[str], query: BoundQuery) -> ColumnElement[str]:
    """A member, and behind it the sort keys that a link begins after where it is the last one.

    They stand behind each: which is the last is known when all are joined.
    """
    if not continues_by_key(query):
        return text
    return Template([text, KEYS, *key_json(query.order), KEYS], alone=True)


def with_mark(
    joined: ColumnElement[str], member: ExpandMember, format_: Format
) -> ColumnElement[str]:
    """The members, and behind a full page of them the mark of a link to others.

    They are counted while they are joined. Whether there are others is looked up only then, and
    not on the deepest levels: SQLite's parser takes no deeper query.
    """
    query, remainder = member.query, member.remainder
    assert remainder is not None
    mark = Template(remainder.mark(format_.control("nextLink", member.name)))
    full = func.count() >= _PAGE
    if query.top is not None:
        full = and_(full, query.top > _PAGE)
    if not remainder.is_deep:
        source = query.scope.from_clause()
        before = _PAGE if query.skip is None else _PAGE + query.skip
        constant: ColumnElement[int] = literal_column("1")
        others = select(constant).select_from(source).where(*query.conditions)
        full = and_(full, others.limit(1).offset(before).correlate_except(source).exists())
    return spell(Text(), "{0} || CASE WHEN {1} THEN {2} ELSE '' END", joined, full, mark)


def limit_of(query: BoundQuery) -> ColumnElement[int]:
    if query.top is None:
        return _PAGE
    return DialectSql(BigInteger(), "min({0}, {1})", "least({0}, {1})", query.top, _PAGE)


def number_of(query: BoundQuery, format_: Format) -> Sequence[Part]:
    """How many related entities there are, ``$skip`` and ``$top`` aside."""
    source = query.scope.from_clause()
    count = select(func.count()).select_from(source).where(*query.conditions)
    number = count.correlate_except(source).scalar_subquery()
    return json_parts(number, edm.INT64, nullable=False, ieee754=format_.ieee754)

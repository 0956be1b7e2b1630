"""What people said of the columns of a file: the next one with the same headings begins with it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import delete, select

from app.clock import utc_now
from app.db import records
from app.db.engines import read_engine
from app.db.transactions import advisory_lock
from app.db.types import json_text
from app.importing.columns import Options
from app.models.import_job import NamedColumns

# Of each kind of rows; those that were used longest ago are forgotten first.
MOST_KEPT = 200


def as_remembered(options: Options, headings: Sequence[str]) -> Options:
    """The options for a file with these headings, with what was said of them if that is asked."""
    if not options.remembered:
        return options
    known = _columns_named(options.type, headings)
    return replace(options, mapping=known or options.mapping, remembered=False)


def _columns_named(type_: str, headings: Sequence[str]) -> dict[str, Any]:
    """What the columns of a file were said to be: heading -> property, None for one left out."""
    wanted = select(NamedColumns.mapping).where(*_same(type_, headings))
    with read_engine().connect() as connection:
        return connection.execute(wanted).scalar() or {}


def name_columns(type_: str, headings: Sequence[str], mapping: Mapping[str, Any]) -> None:
    """Keep what the columns of a file are, for everybody, in the running transaction.

    Args:
        mapping: heading -> property, None for one left out; empty to forget what was said.
    """
    advisory_lock(f"columns of {type_}")
    connection = records.connection()
    connection.execute(delete(NamedColumns).where(*_same(type_, headings)))
    if not mapping:
        return
    records.insert(
        NamedColumns,
        {"created_at": utc_now(), "type": type_, "headings": _hash(headings),
         "mapping": dict(mapping)},
    )  # fmt: skip
    latest = (
        select(NamedColumns.id)
        .where(NamedColumns.type == type_)
        .order_by(NamedColumns.id.desc())
        .limit(MOST_KEPT)
    )
    connection.execute(
        delete(NamedColumns).where(NamedColumns.type == type_, NamedColumns.id.not_in(latest))
    )


def _same(type_: str, headings: Sequence[str]) -> tuple[Any, Any]:
    return NamedColumns.type == type_, NamedColumns.headings == _hash(headings)


def _hash(headings: Sequence[str]) -> str:
    """Of the set of the headings, whatever their order; hex."""
    return hashlib.sha256(json_text(sorted(headings)).encode()).hexdigest()

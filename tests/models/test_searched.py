"""The indexes of the search hold the plain form of what their tables hold, on both databases."""

from __future__ import annotations

import pytest
from flask import Flask
from hypothesis import example, given, settings, strategies as st
from sqlalchemy import Connection, Table, delete, insert, update

from app.clock import utc_now
from app.extensions import Model, db
from app.models.client import Client
from app.models.indexes import searchable_columns
from app.models.searched import (
    COLUMN,
    SEARCHED,
    function_name,
    plain_part,
    postgresql_call,
    postgresql_text,
    search_text,
)
from tests.models.found import found_among_clients

CLIENTS: Table = Client.__table__
PART = 0x4000

# ruff: noqa: RUF001
TEXTS = [
    "Müller & Söhne GmbH", "ŻÓŁĆ Øresund Æther Œuvre", "Straße", "O'Neil-Smith, Ltd.",
    "ΟΔΥΣΣΕΥΣ ὁδός", "ИВАНОВ Ёлкин", "東京株式会社。（新）", "a\tb  c\u00a0d\u2019e",
    "İstanbul ılık",
    "100% _x\\y", "ﬁne Ⅻ ½", "e\u0301cole", "عربي", "👩\u200d🔧 pipes", "C-000001", "a\nb",
]  # fmt: skip


def add(connection: Connection, **values: object) -> int:
    row = {"created_at": utc_now(), "updated_at": utc_now(), **values}
    return int(connection.execute(insert(CLIENTS), row).inserted_primary_key[0])


def found(connection: Connection, text: str) -> list[int]:
    """Keys of the clients whose plain form has ``text``."""
    if connection.dialect.name == "sqlite":
        return found_among_clients(connection, text)
    query = f"SELECT id FROM clients WHERE {COLUMN} LIKE %s ORDER BY id"
    return list(connection.exec_driver_sql(query, (f"%{text}%",)).scalars())


def test_the_index_follows_every_change(app: Flask) -> None:
    with app.app_context(), db.engine.begin() as connection:
        first = add(connection, name="Müller & Söhne", email="Büro@mueller.example")
        other = add(connection, name="Acme", tax_id="DE 136-695-976")
        assert found(connection, " muller sohne ") == [first]
        assert found(connection, "buro mueller example") == [first]
        assert found(connection, "de 136 695 976") == [other]
        connection.execute(update(CLIENTS).where(CLIENTS.c.id == first).values(name="Ölwerk"))
        assert found(connection, "muller") == []
        assert found(connection, " olwerk") == [first]
        connection.execute(update(CLIENTS).where(CLIENTS.c.id == first).values(notes="muller"))
        assert found(connection, "muller") == []
        connection.execute(delete(CLIENTS).where(CLIENTS.c.id == first))
        assert found(connection, "olwerk") == []


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.only_on("postgresql")
def test_both_databases_make_the_same_form(app: Flask, text: str) -> None:
    with app.app_context(), db.engine.begin() as connection:
        add(connection, name=text)
        kept = connection.exec_driver_sql(f"SELECT {COLUMN} FROM clients").scalar_one()
        assert kept == search_text(f" {text} \n" + "  \n" * (len(SEARCHED["clients"]) - 1))


def test_what_the_search_reads_is_what_the_migration_indexed() -> None:
    for table, fields in SEARCHED.items():
        columns = Model.metadata.tables[table].c
        assert all(name in columns for field in fields for name in field), table


# Marks that stay and marks that go, what falls apart or grows, separators, the end of a word.
_HARD = st.sampled_from(
    'aB \t\n.-_%"\u00a0\u00a8\u0301\u0345\u034f\u05b0\u0591\u0e38\u3099\u0f71'
    "ßẞﬁİıʼnŉΣςσΐᾳǰąé½…ꙋÅ각가ᄀ日か"
)
_HOSTILE = st.text(_HARD | st.characters(exclude_categories=["Cs"]), max_size=12)


@given(_HOSTILE, _HOSTILE, _HOSTILE)
@example("a\u0591", "\u0301bcd", "\u05b0e")
@example("", "b\u0301", "\u0591\u0300x")
@example("ΟΔΟ", "Σ", "ΟΔ")
@example("a ,", ", b", " ,c")
def test_a_part_of_a_text_is_a_part_of_its_plain_form(before: str, part: str, after: str) -> None:
    plain = plain_part(part)
    if plain is not None:
        assert plain in search_text(f" {before}{part}{after} \n")


def test_nothing_is_certain_of_marks_that_stay_and_of_what_libraries_may_not_know_yet() -> None:
    assert plain_part("Müller & Söhne") == "muller sohne"
    assert plain_part("e\u0301cole 東京 👩 ς") == "ecole 東京 👩 σ"
    for text in ("b\u0591c", "\u0378bc", "𐕰bc", "か\u3099き"):  # a new letter with case is one
        assert plain_part(text) is None, text


@pytest.mark.only_on("postgresql")
def test_both_databases_agree_on_every_character(app: Flask) -> None:
    """Of a character alone; what stands beside it matters for marks and for sigma only."""
    query = (
        f"SELECT code, {postgresql_text((('name',),))}, {function_name('opportunities')}(name)"
        " FROM (SELECT code, chr(code) AS name"
        " FROM generate_series(%s::int, %s::int) AS code"
        " WHERE code NOT BETWEEN 55296 AND 57343) x"
    )
    with app.app_context(), db.engine.begin() as connection:
        kept = [  # in parts: a busy server would seem to be away while it makes them all
            row
            for first in range(0, 0x110000, PART)
            for row in connection.exec_driver_sql(query, (max(first, 1), first + PART - 1))
        ]
    assert len(kept) == 0x110000 - 1 - 2048
    apart = [
        chr(code) for code, plain, _ in kept
        if plain_part(chr(code)) is not None and plain != search_text(f" {chr(code)} \n")
    ]  # fmt: skip
    assert apart == []
    assert [chr(code) for code, plain, by_database in kept if by_database != plain] == []


_FIELD = st.none() | _HOSTILE.map(lambda text: text.replace("\0", "")) | st.sampled_from(TEXTS)


@pytest.mark.only_on("postgresql")
@pytest.mark.parametrize("table", SEARCHED)
def test_the_function_of_a_table_makes_what_the_long_expression_makes(
    app: Flask, table: str
) -> None:
    fields = SEARCHED[table]
    columns = [column for field in fields for column in field]
    query = (
        f"SELECT {postgresql_text(fields)}, {postgresql_call(table, fields)}"
        f" FROM (VALUES ({', '.join(['%s::varchar'] * len(columns))})) AS x({', '.join(columns)})"
    )
    with app.app_context(), db.engine.begin() as connection:

        @settings(deadline=None)
        @given(st.tuples(*[_FIELD] * len(columns)))
        @example((None,) * len(columns))
        @example(("Straße, ΟΔΟΣ",) * len(columns))
        @example(("PLAIN \\ [ascii]^_`~\x1f\x7f",) * len(columns))
        def check(texts: tuple[str | None, ...]) -> None:
            spelled, by_function = connection.exec_driver_sql(query, texts).one()
            assert by_function == spelled
            if all(plain_part(text or "") is not None for text in texts):
                row = dict(zip(columns, texts, strict=True))
                whole = (" ".join(row[name] or "" for name in field) for field in fields)
                assert by_function == search_text("".join(f" {text} \n" for text in whole))

        check()


@pytest.mark.only_on("postgresql")
def test_the_column_calls_the_function_and_the_function_needs_no_path(app: Flask) -> None:
    with app.app_context(), db.engine.begin() as connection:
        for table, fields in SEARCHED.items():
            expression = connection.exec_driver_sql(
                "SELECT generation_expression FROM information_schema.columns"
                " WHERE table_name = %s AND column_name = %s", (table, COLUMN),
            ).scalar_one()  # fmt: skip
            assert expression == postgresql_call(table, fields)
        connection.exec_driver_sql("SET LOCAL search_path = ''")
        for text in ("Acme, Ltd.", "Øre & Straße"):
            by_function = connection.exec_driver_sql(
                f"SELECT public.{function_name('opportunities')}(%s)", (text,)
            ).scalar_one()
            assert by_function == search_text(f" {text} \n")


def test_what_contains_looks_through_is_in_the_plain_form() -> None:
    for table, fields in SEARCHED.items():
        held = {column for field in fields for column in field}
        assert held.issuperset(searchable_columns(Model.metadata.tables[table])), table

"""A connection that has the functions can use them in any statement, an index included."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from app.odata.sql.sqlite_functions import register


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:")) as opened:
        register(opened)
        yield opened


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("odata_add('0.1', '0.2')", "0.3"),
        ("odata_subtract('1', '0.9')", "0.1"),
        ("odata_multiply('0.1', '3')", "0.3"),
        ("odata_negate('1.5')", "-1.5"),
        ("odata_upper('straße')", "STRASSE"),
        ("odata_lower('ÄÖ')", "äö"),
        ("odata_substring('äbc', 1)", "bc"),
        ("odata_substring_of_length('äbcd', 1, 2)", "bc"),
        (
            """odata_number_texts('{"a":-1.50e3,"b":2,"a":null}', 'a')""",
            '{"a":"-1.50e3","b":2,"a":null}',
        ),
        (
            """odata_number_texts('[{"ab":1,"c":{"a": 0}},{"x":"\\"a\\":5"}]', 'a|c')""",
            '[{"ab":1,"c":{"a": "0"}},{"x":"\\"a\\":5"}]',
        ),
    ],
)
def test_a_statement_computes_with_exact_decimals_and_unicode(
    connection: sqlite3.Connection, expression: str, value: Any
) -> None:
    assert connection.execute(f"SELECT {expression}").fetchone() == (value,)


def test_null_gives_null(connection: sqlite3.Connection) -> None:
    functions = "SELECT DISTINCT name, narg FROM pragma_function_list WHERE name LIKE 'odata_%'"
    of_rows = ("odata_sum", "odata_sum_of_products", "odata_percentile")
    scalar = [each for each in connection.execute(functions) if each[0] not in of_rows]
    assert len(scalar) > 40
    for name, arguments in scalar:
        for at in range(arguments):
            values = ", ".join("NULL" if place == at else "'1'" for place in range(arguments))
            assert connection.execute(f"SELECT {name}({values})").fetchone() == (None,), name


def test_decimals_are_put_in_the_order_of_their_values(connection: sqlite3.Connection) -> None:
    connection.execute("CREATE TABLE amounts (amount TEXT)")
    texts = ["10", "9.5", "-1", "-10", "0.5", "9.50"]
    connection.executemany("INSERT INTO amounts VALUES (?)", [(text,) for text in texts])
    ordered = connection.execute("SELECT amount FROM amounts ORDER BY amount COLLATE odata_decimal")
    assert [float(amount) for (amount,) in ordered] == [-10, -1, 0.5, 9.5, 9.5, 10]
    same = "SELECT count(*) FROM amounts WHERE amount = '9.500' COLLATE odata_decimal"
    assert connection.execute(same).fetchone() == (2,)
    assert connection.execute("SELECT odata_sum(amount) FROM amounts").fetchone() == ("18.50",)
    nothing = "SELECT odata_sum(amount) FROM amounts WHERE amount = 'none'"
    assert connection.execute(nothing).fetchone() == (None,)


def test_an_index_may_be_made_of_what_they_give(connection: sqlite3.Connection) -> None:
    connection.execute("CREATE TABLE names (name TEXT)")
    connection.execute("CREATE INDEX folded ON names (odata_fold(name))")
    connection.execute("INSERT INTO names VALUES ('Ärger')")
    plan = connection.execute(
        "EXPLAIN QUERY PLAN SELECT * FROM names WHERE odata_fold(name) = odata_fold('ärger')"
    ).fetchall()
    assert "folded" in str(plan)


def test_a_connection_without_them_knows_none() -> None:
    with (
        closing(sqlite3.connect(":memory:")) as plain,
        pytest.raises(sqlite3.OperationalError, match="no such function"),
    ):
        plain.execute("SELECT odata_upper('a')")

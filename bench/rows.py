"""What a changed row of clients costs the PostgreSQL server, and what it cost in other forms.

    python -m bench.rows [--changes 1000] [--rounds 8] [--postgresql postgresql://...]

Copies of the table, each different in one thing, are changed in turns: each change is a prepared
statement and a transaction of its own. Counted is the CPU of the one process of the server, which
must run on this machine; the least of all rounds is printed (docs/adr/0027).
"""

from __future__ import annotations

import argparse
import itertools
import logging
import sys
from pathlib import Path
from typing import Any

import psycopg

from app.models.searched import COLUMN, SEARCHED, postgresql_text
from bench.services import service

ROWS = 20_000
_GIN = (
    f"CREATE INDEX ON {{table}} USING gin ({COLUMN} gin_trgm_ops)"
    " WITH (gin_pending_list_limit = 512)"
)
# What is done to a copy of the table, before it gets its rows.
_SPELLED = (
    f'ALTER TABLE {{table}} DROP COLUMN {COLUMN}, ADD COLUMN {COLUMN} text COLLATE "C"'
    f" GENERATED ALWAYS AS ({postgresql_text(SEARCHED['clients'])}) STORED",
    _GIN,
)
_ALL_ROWS = (
    "DROP INDEX {table}_external_id_idx",
    "DROP INDEX {table}_origin_lead_id_idx",
    "CREATE UNIQUE INDEX ON {table} (external_id)",
    "CREATE INDEX ON {table} (origin_lead_id)",
)
FORMS = {
    "as it is": (),
    "indexes of what few rows have hold all rows": _ALL_ROWS,
    "the plain form is spelled out in the column": _SPELLED,
    "both": _SPELLED + _ALL_ROWS,
}
CHANGES = {
    "e-mail": "UPDATE {table} SET email = %s::varchar, version = version + 1,"
    " updated_at = now() WHERE id = %s",
    "revenue": "UPDATE {table} SET revenue = %s::varchar::numeric, version = version + 1,"
    " updated_at = now() WHERE id = %s",
}
_FILL = f"""INSERT INTO {{table}} (id, version, created_at, updated_at, number, name, email, tax_id,
 status, revenue, type, currency, language, payment_terms_days, do_not_contact, invoiced_total,
 outstanding_balance, credit_balance, tags, custom_fields)
SELECT n, 1, now(), now(), 'C-' || n, 'Falcon Blue Software Inc ' || n,
 'office' || n || '@falconsoftware.example', n * 7919, 'Active', n, 'Company', 'EUR', 'en', 30,
 false, 0, 0, 0, '[]', '{{}}' FROM generate_series(1, {ROWS}) AS n"""


def main() -> int:
    """Measure on a database of its own and print."""
    options = _options()
    logging.disable(logging.CRITICAL)
    with (
        service(options.postgresql) as place,
        psycopg.connect(_address(place.database), autocommit=True) as connection,
    ):
        connection.execute("SET synchronous_commit = off")
        tables = _tables(connection)
        found = _measure(connection, tables, options.changes, options.rounds)
    print(f"{'microseconds of the server for a change of':<46}{'e-mail':>8}{'revenue':>9}")
    for form, table in tables.items():
        email, revenue = (min(found[table, change]) for change in CHANGES)
        print(f"{form:<46}{email:8.0f}{revenue:9.0f}")
    return 0


def _tables(connection: psycopg.Connection[Any]) -> dict[str, str]:
    """Form -> its table, filled."""
    tables = {form: f"form_{number}" for number, form in enumerate(FORMS)}
    for form, table in tables.items():
        for statement in (
            "CREATE TABLE {table} (LIKE clients INCLUDING ALL)",
            "ALTER TABLE {table} SET (autovacuum_enabled = false)",
            *FORMS[form],
            _FILL,
            "VACUUM (ANALYZE) {table}",
        ):
            connection.execute(statement.replace("{table}", table))
    return tables


def _measure(
    connection: psycopg.Connection[Any], tables: dict[str, str], changes: int, rounds: int
) -> dict[tuple[str, str], list[float]]:
    found: dict[tuple[str, str], list[float]] = {}
    numbers = itertools.count(1)
    for turn in range(rounds + 1):
        for table in list(tables.values())[:: -1 if turn % 2 else 1]:
            for change, text in CHANGES.items():
                statement = text.format(table=table)
                before = _cpu(connection)
                for number in itertools.islice(numbers, changes):
                    value = str(number) if change == "revenue" else f"office{number}@nova.example"
                    connection.execute(statement, (value, 1 + number * 7919 % ROWS), prepare=True)
                if turn:  # the first one is for what is read once
                    spent = (_cpu(connection) - before) / 1000 / changes
                    found.setdefault((table, change), []).append(spent)
            connection.execute(f"VACUUM {table}")
    return found


def _cpu(connection: psycopg.Connection[Any]) -> int:
    """Nanoseconds that the connection's process of the server has run."""
    process = connection.info.backend_pid
    return int(Path(f"/proc/{process}/schedstat").read_text(encoding="ascii").split()[0])


def _address(database: str) -> str:
    return database.replace("postgresql+psycopg://", "postgresql://")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--changes", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--postgresql", default="postgresql://postgres@127.0.0.1:5432")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())

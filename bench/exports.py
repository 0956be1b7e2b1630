"""What an export of very many rows costs: time, and the memory it grows by.

    python -m bench.exports [--rows 1000000] [--format xlsx] [--database postgresql://...]

Clients are written straight into an empty database; then a saved report over all of them is
exported as the worker does it. Resident memory is read after every page.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import flask_migrate
from sqlalchemy import insert
from tqdm import tqdm

from app.bi.exports.writing import prepare, write
from app.bi.reports.definition import Column, Report
from app.config import Config, database_url
from app.database import transaction
from app.factory import create_app
from app.models.client import Client
from app.records import with_defaults
from app.security import acting_as, system_caller

BUDGET_MB = 200
BATCH = 20_000
REPORT = Report(
    id=1, key=None, name="All clients", description=None, entity="Clients",
    options={"select": "id,number,name,email,status,revenue,currency,createdAt", "orderby": "id"},
    columns=(
        Column("id", "Id", "integer"), Column("number", "Number", "text"),
        Column("name", "Name", "text"), Column("email", "E-mail", "text"),
        Column("status", "Status", "text"), Column("revenue", "Revenue", "money", True),
        Column("currency", "Currency", "text"), Column("createdAt", "Created", "instant"),
    ),
)  # fmt: skip


def main() -> int:
    """Measure, print, and fail when the budget is exceeded."""
    options = _options()
    with tempfile.TemporaryDirectory() as folder:
        app = _app(Path(folder), options.database)
        with app.app_context(), acting_as(system_caller()):
            flask_migrate.upgrade()
            without_search()
            fill(options.rows)
            started_at, before = time.perf_counter(), resident_mb()
            cpu_at = time.process_time()
            bar = tqdm(total=options.rows, unit=" rows", desc=options.format)
            highest = [before]

            def progress(done: int) -> None:
                bar.update(done - bar.n)
                highest[0] = max(highest[0], resident_mb())

            table = prepare(REPORT, {}, options.format, progress)
            path = Path(folder) / f"export.{options.format}"
            write(table, options.format, path)
            bar.close()
            seconds, size = time.perf_counter() - started_at, path.stat().st_size
            cpu = time.process_time() - cpu_at
            highest[0] = max(highest[0], resident_mb())
    print(
        f"{options.format}: {table.written:,} of {table.total:,} rows in {seconds:.1f} s"
        f" ({cpu:.1f} s of CPU), {size / 1e6:.1f} MB; resident {before:.0f} MB before,"
        f" {highest[0]:.0f} MB at most,"
        f" budget {BUDGET_MB} MB"
    )
    return int(highest[0] > BUDGET_MB)


def without_search() -> None:
    """Leave the index of the search out, which exports do not read and which takes long to fill."""
    with transaction() as session:
        connection = session.connection()
        if connection.dialect.name == "sqlite":
            found = "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'clients'"
            for (name,) in connection.exec_driver_sql(found).all():
                connection.exec_driver_sql(f'DROP TRIGGER "{name}"')


def fill(rows: int) -> None:
    """So many clients, no two alike."""
    now = datetime.now(UTC).replace(microsecond=0)
    table: Any = Client.__table__
    for start in tqdm(range(0, rows, BATCH), desc="filling", unit=" batches"):
        batch = [_client(table, number, now) for number in range(start, min(start + BATCH, rows))]
        with transaction() as session:
            session.connection().execute(insert(table), batch)


def _client(table: Any, number: int, now: datetime) -> dict[str, Any]:
    values = {
        "number": f"C-{number:07d}", "name": f"Company {number} of the measurement",
        "email": f"office{number}@company{number}.example", "currency": "EUR",
        "revenue": Decimal(number) / 100, "created_at": now, "updated_at": now,
    }  # fmt: skip
    return with_defaults(table, values)


def resident_mb() -> float:
    """Resident memory of this process."""
    text = Path("/proc/self/status").read_text(encoding="ascii")
    line = next(line for line in text.splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def _app(folder: Path, database: str | None) -> Any:
    url = database_url(database) if database else f"sqlite:///{folder / 'exports.db'}"
    return create_app(
        Config(
            SECRET_KEY="only-for-the-measurement-of-exports-12345",
            DATA_DIR=folder,
            SQLALCHEMY_DATABASE_URI=url,
            STORAGE_URL=f"file://{folder / 'files'}",
            MAIL_URL=f"file://{folder / 'mail'}",
        )
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--format", choices=("xlsx", "csv", "json", "pdf"), default="xlsx")
    parser.add_argument("--database", help="an empty PostgreSQL database instead of SQLite")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())

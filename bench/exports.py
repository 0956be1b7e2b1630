"""What an export of very many rows costs: time, and the memory it grows by.

    python -m bench.exports [--rows 1000000] [--format xlsx] [--database postgresql://...]

Clients are written straight into an empty database; then a process that does nothing else exports a
saved report over all of them, as the worker does it. Resident memory is read after every page, less
the pages of the database's file that SQLite has mapped (64 MB at most): the system takes those back
when it needs them. They are printed, too.
"""

from __future__ import annotations

import argparse
import multiprocessing
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

from app.bi.exports.formats import DEFAULT_FORMAT, FORMATS
from app.bi.exports.writing import prepare
from app.bi.reports.definition import Column, Report
from app.config import Config, database_url
from app.db.engines import transaction
from app.db.records import with_defaults
from app.factory import create_app
from app.http.security import acting_as, system_caller
from app.models.client import Client

BUDGET_MB = 200
BATCH = 20_000
DATABASE = "exports.db"
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
        # Filling leaves memory behind that no export needs.
        alone = multiprocessing.get_context("spawn").Process(target=export, args=(folder, options))
        alone.start()
        alone.join()
    return alone.exitcode or 0


def export(folder: str, options: argparse.Namespace) -> None:
    """Export all rows and print what it took; ends the process, with 1 over the budget."""
    app = _app(Path(folder), options.database)
    with app.app_context(), acting_as(system_caller()):
        started_at, before = time.perf_counter(), resident_mb()
        cpu_at = time.process_time()
        bar = tqdm(total=options.rows, unit=" rows", desc=options.format)
        highest, mapped = [before], [0.0]

        def progress(done: int) -> None:
            bar.update(done - bar.n)
            highest[0] = max(highest[0], resident_mb())
            mapped[0] = max(mapped[0], mapped_mb())

        table = prepare(REPORT, {}, options.format, progress)
        path = Path(folder) / f"export.{options.format}"
        FORMATS[options.format].write(table, path)
        bar.close()
        seconds, size = time.perf_counter() - started_at, path.stat().st_size
        cpu = time.process_time() - cpu_at
        highest[0] = max(highest[0], resident_mb())
    print(
        f"{options.format}: {table.written:,} of {table.total:,} rows in {seconds:.1f} s"
        f" ({cpu:.1f} s of CPU), {size / 1e6:.1f} MB; resident {before:.0f} MB before,"
        f" {highest[0]:.0f} MB at most, and {mapped[0]:.0f} MB of the file mapped,"
        f" budget {BUDGET_MB} MB"
    )
    sys.exit(int(highest[0] > BUDGET_MB))


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
    """Resident memory of this process, without the mapped file of the database."""
    text = Path("/proc/self/status").read_text(encoding="ascii")
    line = next(line for line in text.splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024 - mapped_mb()


def mapped_mb() -> float:
    """Pages of the database's file that are mapped into this process."""
    found, is_database = 0, False
    for line in Path("/proc/self/smaps").read_text(encoding="utf-8").splitlines():
        name = line.split(" ", 1)[0]
        if "-" in name:  # the head of a part of memory: addresses, rights, file
            is_database = line.endswith(DATABASE)
        elif is_database and name == "Rss:":
            found += int(line.split()[1])
    return found / 1024


def _app(folder: Path, database: str | None) -> Any:
    url = database_url(database) if database else f"sqlite:///{folder / DATABASE}"
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
    parser.add_argument("--format", choices=FORMATS, default=DEFAULT_FORMAT)
    parser.add_argument("--database", help="an empty PostgreSQL database instead of SQLite")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())

"""An import of 100,000 clients: memory and time, as they are after a tenth and at the end.

    python -m bench.importing [--rows 100000] [--xlsx] [--postgresql postgresql://postgres@...]
    python -m bench.importing --history [--rows 5000] [--postgresql ...]

With ``--history`` the clients come with their past, each with an invoice, and what counts is how
many records a second of CPU takes in.

All or nothing, in one transaction, as the worker does it after its check, in this process. While
that lasts, others who write to SQLite wait. Memory is the largest resident one; a row costs what
CPU this process uses for it (on SQLite that of the database, too). Both must not grow with the
rows: the last tenth may take half as long again as the first one, and 30 MB more than after it.
"""

from __future__ import annotations

import argparse
import csv
import resource
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import xlsxwriter
from sqlalchemy import event

from app.extensions import db
from app.http.security import acting_as, system_caller
from app.importing.columns import Options
from app.importing.history import import_records
from app.importing.rows import Import
from app.importing.tables import open_table
from bench.services import Place, service

HEADINGS = ("name", "email", "externalId", "taxId", "billingAddress.city", "tags", "notes")
MOST_SLOWER, MOST_MEGABYTES = 1.5, 30


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--xlsx", action="store_true")
    parser.add_argument("--history", action="store_true")
    parser.add_argument("--postgresql")
    wanted = parser.parse_args()
    with service(wanted.postgresql) as place:
        if wanted.history:
            return measure_history(place, wanted.rows)
        path = place.folder / ("table.xlsx" if wanted.xlsx else "table.csv")
        (write_xlsx if wanted.xlsx else write_csv)(path, wanted.rows)
        return measure(place, path, wanted.rows)


def measure(place: Place, path: Path, count: int) -> int:
    """Import the file and print what each tenth of it took."""
    tenth, parts = count // 10, []
    done, before, statements = 0, 0.0, 0

    def note(rows: int) -> None:
        nonlocal done, before
        done += rows
        if done >= tenth * (len(parts) + 1):
            now = time.process_time()
            parts.append(((now - before) / tenth * 1000, peak_mb()))
            before = now

    def count_statement(*_: Any) -> None:
        nonlocal statements
        statements += 1

    started = time.process_time()
    with place.app.app_context(), acting_as(system_caller("bench")), open_table(path) as table:
        event.listen(db.engine, "before_cursor_execute", count_statement)
        before = started
        outcome = Import(table, Options(type="client")).in_one_transaction(note)
    spent = time.process_time() - started
    print(f"{spent / count * 1000:.2f} ms of CPU and {statements / count:.2f} statements a row")
    for number, (cost, memory) in enumerate(parts, start=1):
        print(f"{number * tenth:>9,} rows: {cost:5.2f} ms of CPU a row, at most {memory:.0f} MB")
    (first, low), (last, high) = parts[0], parts[-1]
    print(
        f"{outcome.created:,} of {count:,} clients from {path.suffix[1:]} with {spent:.0f} s of"
        f" CPU, {count / spent:,.0f} a second; memory {high - low:+.0f} MB, a row"
        f" {last / first:.2f} times as long at the end"
    )
    is_flat = last <= first * MOST_SLOWER and high - low <= MOST_MEGABYTES
    return int(outcome.created != count or not is_flat)


def measure_history(place: Place, count: int) -> int:
    """Import clients and invoices with their history and print what they took."""
    line = {"description": "Work", "quantity": 3, "unitPrice": 50, "taxRate": 19}
    created = "2021-05-03T08:00:00Z"
    names: Iterator[dict[str, Any]] = (
        dict(zip(("name", "email", "externalId"), cells, strict=False)) for cells in rows(count)
    )
    data = {
        "Clients": [
            {"id": key, **values, "createdAt": created} for key, values in enumerate(names, start=1)
        ],
        "Invoices": [
            {
                "id": key, "clientId": key, "number": f"INV-2021-{key:05d}", "status": "Sent",
                "issueDate": "2021-05-03", "createdAt": created, "LineItems": [line],
            }
            for key in range(1, count + 1)
        ],
    }  # fmt: skip
    started = time.process_time()
    with place.app.app_context():
        counts = import_records(data)
    spent = time.process_time() - started
    print(
        f"{counts['Clients']:,} clients and {counts['Invoices']:,} invoices with {spent:.1f} s of"
        f" CPU, {2 * count / spent:,.0f} records a second; at most {peak_mb():.0f} MB"
    )
    return int(counts != {"Clients": count, "Invoices": count})


def peak_mb() -> float:
    """The largest resident memory of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def rows(count: int) -> Iterator[tuple[str, ...]]:
    """Clients, each with what makes it another than all others."""
    for number in range(count):
        yield (
            f"Müller Technik {number} GmbH", f"office@client{number}.example", f"old-{number}",
            "", "Köln", "imported, 2026", f"Customer since {1990 + number % 30}.",
        )  # fmt: skip


def write_csv(path: Path, count: int) -> None:
    """The clients as CSV."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=";")
        writer.writerow(HEADINGS)
        writer.writerows(rows(count))


def write_xlsx(path: Path, count: int) -> None:
    """The clients as a workbook."""
    with xlsxwriter.Workbook(path, {"constant_memory": True}) as workbook:
        sheet = workbook.add_worksheet()
        for number, cells in enumerate((HEADINGS, *rows(count))):
            sheet.write_row(number, 0, cells)


if __name__ == "__main__":
    sys.exit(main())

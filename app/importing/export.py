"""``flask export records FILE.json``: everything that an import takes, as it is here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import click
from flask.cli import AppGroup
from sqlalchemy import Connection, func, select

from app.db.engines import read_engine
from app.db.types import json_text
from app.importing.progress import Report, progress_bar
from app.importing.sets import NOT_READ, ImportSet, import_sets
from app.models.user import User
from app.output_file import OutputError, output_file
from app.writing.rules import ChildRules, RowRules

BATCH = 1000

exporting = AppGroup("export", help="Take data out, in the form that an import takes.")


@exporting.command("records")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
def export_file(file: Path) -> None:
    """Write every record to FILE, with its history (docs/import.md)."""
    try:
        with progress_bar() as report, output_file(file, "utf-8") as out:
            counts = export_records(out, report)
    except OutputError as error:
        raise click.ClickException(str(error)) from error
    done = ", ".join(f"{n:,} {name}" for name, n in counts.items()) or "nothing"
    click.echo(f"Exported: {done}", err=True)  # FILE may be /dev/stdout


def export_records(out: IO[str], report: Report | None = None) -> dict[str, int]:
    """Write one JSON object, entity set -> records; returns entity set -> number of records."""
    counts: dict[str, int] = {}
    with read_engine().connect() as connection:
        counted = (select(func.count()).select_from(each.table) for each in import_sets().values())
        total = sum(connection.scalar(each) or 0 for each in counted)
        users = connection.execute(select(User.id, User.username).order_by(User.id)).mappings()
        out.write('{"Users": ' + json_text([dict(user) for user in users]))
        for name, target in import_sets().items():
            out.write(f',\n"{name}": [')
            for record in _records(connection, target):
                out.write((",\n" if counts.get(name) else "\n") + json_text(record))
                counts[name] = counts.get(name, 0) + 1
                if report is not None and counts[name] % 100 == 0:
                    report("Exporting records", sum(counts.values()), total)
            out.write("]")
        out.write("}\n")
    if report is not None:
        report("Exporting records", total, total)
    return counts


def _records(connection: Connection, target: ImportSet) -> Iterator[dict[str, Any]]:
    """The records of a set, by id, with the lists inside them; a batch at a time."""
    table = target.table
    last = 0
    while True:
        query = select(table).where(table.c.id > last).order_by(table.c.id).limit(BATCH)
        rows = connection.execute(query).mappings().all()
        if not rows:
            return
        last = rows[-1]["id"]
        keys = [row["id"] for row in rows]
        lists = {
            target.rules.wire(attribute): _children(connection, child, keys)
            for attribute, child in target.rules.children.items()
        }
        for row in rows:
            record = _record(target.rules, row)
            for name, children in lists.items():
                if row["id"] in children:
                    record[name] = children[row["id"]]
            yield record


def _children(
    connection: Connection, rules: ChildRules, parents: Sequence[int]
) -> dict[int, list[dict[str, Any]]]:
    table = rules.table
    query = select(table).where(table.c[rules.parent].in_(parents)).order_by(table.c.id)
    children: dict[int, list[dict[str, Any]]] = {}
    for row in connection.execute(query).mappings():
        record = _record(rules, row)
        del record["id"]
        record.pop(rules.wire(rules.parent), None)
        children.setdefault(row[rules.parent], []).append(record)
    return children


def _record(rules: RowRules, row: Mapping[Any, Any]) -> dict[str, Any]:
    """A row under the names of the wire; what is null, and what an import does not read, is out."""
    record: dict[str, Any] = {"id": row["id"]}
    for column in rules.table.c:
        value = row[column.name]
        if value is None or column.name in NOT_READ or column.name not in rules.names:
            continue
        outer, _, inner = rules.wire(column.name).partition(".")
        if inner:
            record.setdefault(outer, {})[inner] = value
        else:
            record[outer] = value
    return record

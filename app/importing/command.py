"""``flask import records FILE.json``: with progress, and every problem of the file in one list."""

from __future__ import annotations

import json
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import click
from flask.cli import AppGroup
from tqdm import tqdm

from app.crm.importing.command import import_table
from app.importing.problems import ImportProblemsError
from app.importing.service import Report, import_records

importing = AppGroup("import", help="Bring in data from another system.")
importing.add_command(import_table)


@importing.command("records")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--dry-run", is_flag=True, help="Check and try out everything, keep nothing.")
def import_file(file: Path, dry_run: bool) -> None:
    """Import FILE: one JSON object, entity set -> list of records (docs/import.md)."""
    try:
        data = json.loads(file.read_text("utf-8"), parse_float=_number, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise click.ClickException(f"{file} is not JSON: {error}") from error
    try:
        with progress_bar() as report:
            counts = import_records(data, dry_run=dry_run, report=report)
    except ImportProblemsError as error:
        for problem in error.problems:
            click.echo(str(problem), err=True)
        more = error.count - len(error.problems)
        rest = f" ({more} more not listed)" if more else ""
        raise click.ClickException(f"{error.count} problems{rest}; nothing was imported") from error
    done = ", ".join(f"{count:,} {name}" for name, count in counts.items()) or "nothing"
    click.echo(f"{'Would import' if dry_run else 'Imported'}: {done}")


class progress_bar:  # a function to its reader
    """``with progress_bar() as report:`` draws what ``import_records`` reports."""

    def __init__(self) -> None:
        self._bar: tqdm[Any] | None = None
        self._what = ""

    def __enter__(self) -> Report:
        return self._report

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def _report(self, what: str, done: int, total: int) -> None:
        if what != self._what:
            self.__exit__()
            self._bar = tqdm(total=total, desc=what.ljust(9), unit=" records", leave=True)
            self._what = what
        if self._bar is not None:
            self._bar.update(done - self._bar.n)


def _number(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation as error:
        raise ValueError(f"{text[:40]} is no number with an exponent that can be kept") from error


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number")

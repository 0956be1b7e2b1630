"""``flask import``: records with their history, or a table; with progress and all problems."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import click
from flask.cli import AppGroup

from app.http.schema_bounds import OneOf
from app.http.security import acting_as, system_caller
from app.importing.columns import ALL_OR_NOTHING, IGNORE, REFUSE, SKIP_BAD, Options, Plan
from app.importing.history import ImportProblemsError, import_records
from app.importing.limits import JOB
from app.importing.progress import progress_bar
from app.importing.rows import Import, Outcome, look_through
from app.importing.schemas import ImportOptionsSchema
from app.importing.tables import open_table

Command = Callable[..., Any]
importing = AppGroup("import", help="Bring in data from another system.")


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
            click.echo(problem, err=True)
        more = error.count - len(error.problems)
        unlisted = f" (not listed: {more})" if more else ""
        raise click.ClickException(
            f"nothing was imported; problems: {error.count}{unlisted}"
        ) from error
    done = ", ".join(f"{count:,} {name}" for name, count in counts.items()) or "nothing"
    click.echo(f"{'Would import' if dry_run else 'Imported'}: {done}")


def _number(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation as error:
        raise ValueError(f"{text[:40]} is no number with an exponent that can be kept") from error


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number")


def _option(name: str) -> Callable[[Command], Command]:
    """The option of a field of the form of imports, which says what may be chosen."""
    field = ImportOptionsSchema().fields[name]
    choices = next(bound.choices for bound in field.validators if isinstance(bound, OneOf))
    return click.option(
        f"--{name.replace('_', '-')}", name, type=click.Choice(tuple(choices)),
        required=field.required, help=field.metadata.get("description"),
    )  # fmt: skip


@importing.command("csv")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@_option("type")
@click.option(
    "--map",
    "pairs",
    multiple=True,
    metavar="HEADING=PROPERTY",
    help="What a column is; nothing behind = ignores it. May be given several times.",
)
@click.option("--dry-run", is_flag=True, help="List every problem, keep nothing.")
@click.option("--skip-bad", is_flag=True, help="Import the good rows; else all or nothing.")
@_option("update")
@_option("decimal_sign")
@_option("date_order")
@click.option("--ignore-unknown", is_flag=True, help="Leave out columns that are not recognised.")
@_option("encoding")
def import_table(
    file: Path, pairs: tuple[str, ...], skip_bad: bool, ignore_unknown: bool, **choices: Any
) -> None:
    """Import FILE, CSV or xlsx, as clients, contacts, leads or products (docs/crm.md).

    \b
    flask --app wsgi import csv customers.csv --type client --map "Kunde=name" --dry-run
    """
    options = Options(
        mapping={heading: target or None for heading, _, target in _split(pairs)},
        mode=SKIP_BAD if skip_bad else ALL_OR_NOTHING,
        unknown_columns=IGNORE if ignore_unknown else REFUSE,
        **choices,
    )
    with acting_as(system_caller("cli")):
        outcome = run(file, options)
    _tell(outcome, options.dry_run)


def run(file: Path, options: Options) -> Outcome:
    """Import a file in transactions of its own, with a bar for the progress.

    All or nothing begins with a dry run, which lists all problems and keeps nobody waiting: only
    then everything is written in one transaction.
    """
    plan = look_through(file, options, lambda rows: None)
    if options.mode == SKIP_BAD or options.dry_run:
        return _pass(file, options, plan)
    outcome = _pass(file, replace(options, dry_run=True), plan)
    if outcome.problem_count:
        raise outcome.refuse()
    return _pass(file, options, plan, whole=True)


def _pass(file: Path, options: Options, plan: Plan, *, whole: bool = False) -> Outcome:
    what = "Checking rows" if options.dry_run else "Importing rows"
    with open_table(file, JOB, options.encoding) as table, progress_bar() as report:
        running = Import(table, options, plan)
        run = running.in_one_transaction if whole else running.in_chunks
        return run(lambda rows: report(what, running.outcome.rows, 0))


def _split(pairs: tuple[str, ...]) -> list[tuple[str, str, str]]:
    wrong = [pair for pair in pairs if "=" not in pair]
    if wrong:
        raise click.BadParameter(f"{json.dumps(wrong[0])} has no = in it", param_hint="--map")
    return [pair.partition("=") for pair in pairs]


def _tell(outcome: Outcome, dry_run: bool) -> None:
    for column in outcome.columns:
        if column["readAs"] is not None:
            click.echo(f"{column['column']}: {column['example']} is read as {column['readAs']}")
    for problem in outcome.problems:
        location = f"row {problem.row}" + (f", {problem.column}" if problem.column else "")
        click.echo(f"{location}: {problem.message}", err=True)
    if more := outcome.problem_count - len(outcome.problems):
        click.echo(f"... not listed: {more:,}", err=True)
    would = "Would have" if dry_run else "Have"
    click.echo(
        f"{outcome.rows:,} rows. {would} created {outcome.created:,}, updated"
        f" {outcome.updated:,}, left out {outcome.skipped:,}."
    )
    if dry_run and outcome.problem_count:
        raise click.ClickException(f"problems: {outcome.problem_count:,}")

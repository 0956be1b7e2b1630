"""``flask --app wsgi ...``: commands that are loaded when they are called, not with the service."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click
from flask import Flask
from flask.cli import AppGroup
from sqlalchemy.exc import SQLAlchemyError

from app.db.outages import problem_for_operator
from app.errors import ApiError

# Name of a command -> where it is.
COMMANDS = {
    "backup": "app.backup.commands:backup",
    "db": "flask_migrate.cli:db",
    "worker": "app.jobs.worker:worker",
    "demo": "app.demo.load:demo",
    "documents": "app.documents.cleanup:documents",
    "export": "app.importing.export:exporting",
    "invoices": "app.invoices.commands:invoices",
    "import": "app.importing.command:importing",
    "mail": "app.mail.commands:mail",
    "restore": "app.backup.commands:restore",
    "reindex": "app.kb.command:reindex",
}


def init_app(app: Flask) -> None:
    """Add the commands to ``app``."""
    group = LazyGroup(app.cli.name)
    group.commands = app.cli.commands
    app.cli = group


class LazyGroup(AppGroup):
    """A group of commands, those of ``COMMANDS`` among them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Every name, in order."""
        return sorted({*super().list_commands(ctx), *COMMANDS})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of this name, loaded now; what keeps it from working is told in one line."""
        ctx.with_resource(errors_in_one_line())
        if cmd_name not in COMMANDS:
            return super().get_command(ctx, cmd_name)
        module, _, name = COMMANDS[cmd_name].partition(":")
        command: Any = getattr(importlib.import_module(module), name)
        return command if isinstance(command, click.Command) else None


@contextmanager
def errors_in_one_line() -> Iterator[None]:
    """Turn what the operator can mend into a line and exit status 1; a mistake of ours stays one.

    What it leaves out of its details has a line each before it.

    Raises: click.ClickException.
    """
    try:
        yield
    except ApiError as error:
        for detail in error.details:
            if detail.message not in error.message:
                click.echo(f"{detail.field}: {detail.message}", err=True)
        raise click.ClickException(error.message) from error
    except SQLAlchemyError as error:
        problem = problem_for_operator(error)
        if problem is None:
            raise
        raise click.ClickException(f"The database cannot be used: {problem}") from error

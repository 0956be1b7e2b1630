"""``flask --app wsgi ...``: commands that are loaded when they are called, not with the service."""

from __future__ import annotations

import importlib
from typing import Any

import click
from flask import Flask
from flask.cli import AppGroup

# Name of a command -> where it is.
COMMANDS = {
    "backup": "app.backup.commands:backup",
    "db": "flask_migrate.cli:db",
    "worker": "app.jobs:worker",
    "demo": "app.demo.load:demo",
    "documents": "app.documents.commands:documents",
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
        """The command of this name, loaded now."""
        if cmd_name not in COMMANDS:
            return super().get_command(ctx, cmd_name)
        module, _, name = COMMANDS[cmd_name].partition(":")
        command: Any = getattr(importlib.import_module(module), name)
        return command if isinstance(command, click.Command) else None

"""``flask openapi write``: the document as a file, for generators of clients."""

from __future__ import annotations

from typing import BinaryIO

import click
import orjson
from flask import Flask
from flask.cli import AppGroup

from app.openapi.routes import openapi

group = AppGroup("openapi", help="The OpenAPI document.")


@group.command("write")
@click.argument("file", type=click.File("wb"))
def write(file: BinaryIO) -> None:
    """Write the document to FILE ("-" for the terminal)."""
    document = orjson.loads(openapi.current.text())
    file.write(orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    click.echo(f"{len(document['paths'])} paths", err=True)


def init_app(app: Flask) -> None:
    """Add the commands, in place of those that flask-smorest brings (they know no OData)."""
    app.cli.add_command(group)

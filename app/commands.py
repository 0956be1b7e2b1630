"""``flask --app wsgi ...``: the commands that are not one area's own."""

from __future__ import annotations

import click
from flask import Flask, current_app

from app.demo.load import demo
from app.importing.command import importing
from app.jobs import run_worker


def init_app(app: Flask) -> None:
    """Add the commands to ``app``."""
    for command in (worker, demo, importing):
        app.cli.add_command(command)


@click.command()
@click.option("--threads", default=2, show_default=True, help="Jobs that run at the same time.")
def worker(threads: int) -> None:
    """Run the jobs: those that come round by the clock, and those in the queue."""
    run_worker(current_app._get_current_object(), threads)  # type: ignore[attr-defined]

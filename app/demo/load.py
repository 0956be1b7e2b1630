"""Loading the demonstration into an empty database: settings, people, a year of records."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import click
from flask.cli import AppGroup
from sqlalchemy import select

from app.auth.users import create_user
from app.clock import local_day, utc_now
from app.db.engines import read_engine, transaction
from app.demo.billing import make_invoices, make_products
from app.demo.clients import make_clients
from app.demo.files import add_files
from app.demo.sales import make_leads, make_opportunities
from app.demo.support import make_articles, make_tickets
from app.demo.vocabulary import COMPANY
from app.demo.work import make_documents, make_projects, make_tasks
from app.demo.world import RATES, STAFF, Record, World
from app.http.security import acting_as, system_caller
from app.importing.history import import_records
from app.importing.progress import Report, progress_bar
from app.models.client import Client
from app.models.user import User
from app.settings import save_settings
from app.settings.days import zone

# Each may refer to what was made before it.
PARTS: tuple[Callable[[World], None], ...] = (
    make_clients, make_opportunities, make_leads, make_articles, make_tickets, make_projects,
    make_tasks, make_products, make_invoices, make_documents,
)  # fmt: skip
_UTC = ZoneInfo("UTC")
SETTINGS: Mapping[str, Mapping[str, Any]] = {
    **{group: vars(values) for group, values in COMPANY.items()},
    "exchangeRates": {code: rate for code, rate in RATES.items() if code != "EUR"},
}
demo = AppGroup("demo", help="The demonstration: a believable year of a company.")


@demo.command("load")
def load() -> None:
    """Load the demonstration; only where there are no clients yet."""
    with read_engine().connect() as connection:
        if connection.execute(select(Client.id).limit(1)).first() is not None:
            raise click.ClickException("there are clients already: the demonstration stays away")
    load_demo_data()


def load_demo_data() -> None:
    """Fill the database, and say so; what an interrupted load left is no obstacle."""
    click.echo(
        "Making a demonstration company: a year of its records, and the files of its documents."
        " None of it is sent anywhere.",
        err=True,
    )
    with progress_bar() as report:
        fill(report)


def fill(report: Report | None = None) -> dict[str, int]:
    """Settings, people, records; returns entity set -> number of records."""
    with acting_as(system_caller("cli")), transaction():
        for group, values in SETTINGS.items():
            save_settings(group, values)
        _hire()
    counts = import_records(make_year(utc_now(), zone()), report=report)
    with acting_as(system_caller("cli")), transaction():
        add_files(report)
    return counts


def _hire() -> None:
    """Accounts for the staff; nobody knows their passwords until an administrator sets them."""
    with read_engine().connect() as connection:
        known = set(connection.scalars(select(User.username)))
    for person in STAFF:
        if person.username not in known:
            create_user(
                username=person.username,
                email=f"{person.username}@nordlicht.example",
                display_name=person.name,
                password=secrets.token_urlsafe(24),
                roles=[person.role],
                language=person.language,
                timezone="Europe/Berlin",
            )


def make_year(now: datetime, local: ZoneInfo = _UTC) -> dict[str, list[Record]]:
    """Every record of the year that ends with ``now``; the same for the same moment.

    Args:
        local: whose day ``now`` is.
    """
    moment = now.astimezone(UTC).replace(microsecond=0)
    world = World(today=local_day(moment, local), now=moment)
    for part in PARTS:
        part(world)
    users = [{"id": person.id, "username": person.username} for person in STAFF]
    return {"Users": users, **world.records}

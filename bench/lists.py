"""What pages of the console cost the server on the demonstration company: CPU and bytes.

    python -m bench.lists [--rounds 30] [--clients 100000] [--deals 3000] [--lines 1000]
        [--typed 5000] [--only TEXT] [--postgresql postgresql://...]

The first page, each list, the board and an invoice are asked for by a signed-in administrator
inside this process; counted are the CPU, the 95th percentile of all rounds, and the bytes of the
page. ``--clients`` and ``--deals`` add so many records first, ``--lines`` are those of the invoice.
``--typed`` sends a form for an invoice with so many lines, and counts the same of the page that
refuses it.
"""

from __future__ import annotations

import argparse
import gc
import logging
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from statistics import quantiles
from urllib.parse import urlencode

from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select
from werkzeug.test import TestResponse

from app.auth.users import create_user
from app.clock import utc_now
from app.console.session import ROOT, TOKEN
from app.console.sets import PAGES
from app.db import records
from app.demo.load import load_demo_data
from app.http.security import acting_as, system_caller
from app.models.client import Client
from app.models.opportunity import STAGES
from app.settings.days import today
from app.writing.services import SERVICES
from bench.services import service, transaction

PASSWORD = "a password for measurements"
MOST_MILLISECONDS, MOST_BYTES = 60, 150_000
CHUNK = 10_000
# What people do with lists besides looking at them.
ASKED = (
    "invoices/?q=0272", "invoices/?q=polaris", "tickets/?view=Mine",
    "invoices/?where=total:least:1000&where=createdAt:recent:&sort=Client",
    "clients/?q=polaris&sort=revenue%20desc", "tasks/?rows=100", "search?q=polaris", "",
    "opportunities/board",
)  # fmt: skip


def main() -> int:
    """Print a line for each list; returns 1 where one costs more than it may."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--clients", type=int, default=0)
    parser.add_argument("--deals", type=int, default=0)
    parser.add_argument("--lines", type=int, default=3)
    parser.add_argument("--typed", type=int, default=0)
    parser.add_argument("--only", default="")
    parser.add_argument("--postgresql")
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)
    limits = {"RATE_LIMIT_USER": "1000000/minute"}
    with service(options.postgresql, **limits) as place:
        with place.app.app_context():
            load_demo_data()
            add_clients(options.clients)
            _add_deals(options.deals)
            invoice = _add_invoice(options.lines)
        client = sign_in(place.app)
        # As gunicorn.conf.py does: no page pays for a look through what loading left in memory.
        gc.collect()
        gc.freeze()
        asked = (*(f"{path}/" for path in PAGES), *ASKED, invoice, f"{invoice}/edit")
        costs = {
            path: _cost(client, path, options.rounds) for path in asked if options.only in path
        }
        refused = _refusal(client, options.typed, options.rounds) if options.typed else None
    print(f"{'page':<70}{'p95 ms CPU':>11}{'bytes':>9}")
    for path, (spent, size) in costs.items():
        print(f"{path:<70}{spent:>11.1f}{size:>9,}")
    if refused:
        name = f"invoices/new, refused with {options.typed:,} lines"
        print(f"{name:<70}{refused[0]:>11.1f}{refused[1]:>9,}")
    return int(
        any(spent > MOST_MILLISECONDS or size > MOST_BYTES for spent, size in costs.values())
    )


def sign_in(app: Flask) -> FlaskClient:
    """A browser of a new administrator."""
    with app.app_context(), transaction(), acting_as(system_caller("bench")):
        create_user(username="bench", email=None, display_name="Bench", password=PASSWORD,
                    roles=["Admin"])  # fmt: skip
    client = app.test_client()
    client.post("/admin/sign-in", data={"username": "bench", "password": PASSWORD})
    return client


def add_clients(count: int) -> None:
    """So many clients, written as rows."""
    now = utc_now()
    for start in range(0, count, CHUNK):
        rows = [
            {"name": f"Company {number}", "number": f"B-{number:06d}", "created_at": now,
             "updated_at": now, "currency": "EUR", "language": "en"}
            for number in range(start, min(count, start + CHUNK))
        ]  # fmt: skip
        with transaction():
            records.insert_all(Client.__table__, rows)


def _add_deals(count: int) -> None:
    """Open deals, as many in each stage, with dates of the next months."""
    open_stages = [each for each in STAGES if not each.startswith("Closed")]
    with transaction() as session, acting_as(system_caller("bench")):
        someone = session.scalars(select(Client.id).limit(1)).one()
        for number in range(count):
            values = {
                "name": f"Deal {number}", "client_id": someone, "amount": number,
                "currency": "EUR", "stage": open_stages[number % len(open_stages)],
                "close_date": today() + timedelta(days=number % 90),
            }  # fmt: skip
            SERVICES["Opportunity"].create(values)


def _add_invoice(lines: int) -> str:
    """A draft with so many lines; its page."""
    with transaction() as session, acting_as(system_caller("bench")):
        someone = session.scalars(select(Client.id).limit(1)).one()
        values = {
            "client_id": someone,
            "line_items": [
                {"description": f"Item {number}", "quantity": 1, "unit_price": number}
                for number in range(1, lines + 1)
            ],
        }
        return f"invoices/{SERVICES['Invoice'].create(values)}"


def _refusal(client: FlaskClient, lines: int, rounds: int) -> tuple[float, int]:
    with client.session_transaction(f"{ROOT}/") as session:
        form = {TOKEN: session[TOKEN], "lines": "1"}
    for number in range(lines):
        texts = {"description": f"Item {number}", "quantity": "1", "unitPrice": "10"}
        form |= {f"line.{number}.{name}": text for name, text in texts.items()}
    body = urlencode(form | {"line.1.unitPrice": "much"})
    kind = "application/x-www-form-urlencoded"
    return _measured(
        lambda: client.post("/admin/invoices/new", data=body, content_type=kind), rounds
    )


def _cost(client: FlaskClient, path: str, rounds: int) -> tuple[float, int]:
    return _measured(lambda: client.get(f"/admin/{path}"), rounds)


def _measured(ask: Callable[[], TestResponse], rounds: int) -> tuple[float, int]:
    size = len(ask().data)  # the first compiles its plan
    spent = []
    for _ in range(rounds):
        begun = time.process_time()
        ask()
        spent.append((time.process_time() - begun) * 1000)
    return quantiles(spent, n=20)[-1], size


if __name__ == "__main__":
    sys.exit(main())

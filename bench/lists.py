"""What the console's lists cost the server on the demonstration company: CPU and bytes.

    python -m bench.lists [--rounds 30] [--clients 100000] [--postgresql postgresql://...]

Each list is asked for by a signed-in administrator inside this process; counted are its CPU, the
95th percentile of all rounds, and the bytes of the page. ``--clients`` adds so many clients first.
"""

from __future__ import annotations

import argparse
import logging
import sys
import time
from statistics import quantiles

from flask import Flask
from flask.testing import FlaskClient

from app.auth.users import create_user
from app.clock import utc_now
from app.console.sets import PAGES
from app.db import records
from app.demo.load import load_demo_data
from app.http.security import acting_as, system_caller
from app.models.client import Client
from bench.services import service, transaction

PASSWORD = "a password for measurements"
MOST_MILLISECONDS, MOST_BYTES = 60, 150_000
CHUNK = 10_000
# What people do with lists besides looking at them.
ASKED = (
    "invoices/?q=0272", "invoices/?q=polaris", "tickets/?view=Mine",
    "invoices/?where=total:least:1000&where=createdAt:recent:&sort=Client",
    "clients/?q=polaris&sort=revenue%20desc", "tasks/?rows=100", "search?q=polaris",
)  # fmt: skip


def main() -> int:
    """Print a line for each list; returns 1 where one costs more than it may."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--clients", type=int, default=0)
    parser.add_argument("--postgresql")
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)
    limits = {"RATE_LIMIT_USER": "1000000/minute"}
    with service(options.postgresql, **limits) as place:
        client = _signed_in(place.app, options.clients)
        costs = {
            path: _cost(client, path, options.rounds)
            for path in (*(f"{path}/" for path in PAGES), *ASKED)
        }
    print(f"{'list':<70}{'p95 ms CPU':>11}{'bytes':>9}")
    for path, (spent, size) in costs.items():
        print(f"{path:<70}{spent:>11.1f}{size:>9,}")
    return int(
        any(spent > MOST_MILLISECONDS or size > MOST_BYTES for spent, size in costs.values())
    )


def _signed_in(app: Flask, more: int) -> FlaskClient:
    """A browser of an administrator, and the demonstration company."""
    with app.app_context():
        load_demo_data()
        with transaction(), acting_as(system_caller("bench")):
            create_user(username="bench", email=None, display_name="Bench", password=PASSWORD,
                        roles=["Admin"])  # fmt: skip
        _add_clients(more)
    client = app.test_client()
    client.post("/admin/sign-in", data={"username": "bench", "password": PASSWORD})
    return client


def _add_clients(count: int) -> None:
    now = utc_now()
    for start in range(0, count, CHUNK):
        rows = [
            {"name": f"Company {number}", "number": f"B-{number:06d}", "created_at": now,
             "updated_at": now, "currency": "EUR", "language": "en"}
            for number in range(start, min(count, start + CHUNK))
        ]  # fmt: skip
        with transaction():
            records.insert_all(Client.__table__, rows)


def _cost(client: FlaskClient, path: str, rounds: int) -> tuple[float, int]:
    size = len(client.get(f"/admin/{path}").data)  # the first compiles its plan
    spent = []
    for _ in range(rounds):
        begun = time.process_time()
        client.get(f"/admin/{path}")
        spent.append((time.process_time() - begun) * 1000)
    return quantiles(spent, n=20)[-1], size


if __name__ == "__main__":
    sys.exit(main())

"""How many invoices are issued a second: number, frozen PDF, chain, balances, audit and events.

    python -m bench.issuing [--invoices 200] [--threads 8] [--postgresql postgresql://...]

Drafts of three lines are issued by threads of one process, each in a transaction of its own, all
of one series, so that they wait for one another as they would in a service. Afterwards the numbers
have no gap and the chain holds, or the measurement fails.
"""

from __future__ import annotations

import argparse
import logging
import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

from flask import Flask
from sqlalchemy import select

from app.crm.clients import CLIENTS
from app.db import records
from app.db.engines import transaction
from app.http.security import acting_as, system_caller
from app.invoices.chain import verify_chain
from app.invoices.service import INVOICES
from app.invoices.steps import issue_invoice
from app.models.invoice import Invoice
from app.settings import save_settings
from bench.services import service

SELLER = {
    "name": "Acme", "taxId": "DE136695976", "street": "Hauptstr. 1", "city": "Berlin",
    "postalCode": "10115", "country": "DE",
}  # fmt: skip


def main() -> int:
    """Measure on each database, print, and fail where numbers or chain are broken."""
    options = _options()
    logging.disable(logging.CRITICAL)
    broken = False
    for name, address in (("SQLite", None), ("PostgreSQL", options.postgresql)):
        with service(address, RATE_LIMIT_USER="1000000/minute") as place:
            keys = _drafts(place.app, options.invoices)
            started = time.process_time()
            seconds, waits = _issue(place.app, keys, options.threads)
            cpu = time.process_time() - started
            problem = _check(place.app, len(keys))
        late = sorted(waits)[int(len(waits) * 0.95)]
        print(
            f"{name:<11}{len(keys) / seconds:7.1f} a second with {options.threads} threads,"
            f" {cpu / len(keys) * 1000:.0f} ms of CPU each; waits"
            f" {statistics.median(waits) * 1000:.0f} ms, p95 {late * 1000:.0f} ms;"
            f" {problem or 'no gap, chain holds'}"
        )
        broken = broken or problem is not None
    return int(broken)


def _drafts(app: Flask, count: int) -> list[int]:
    line = {"description": "Work of an hour", "quantity": 3, "unit_price": Decimal("80.50")}
    with app.app_context(), acting_as(system_caller("cli")), transaction():
        save_settings("seller", SELLER)
        save_settings("bank", {"iban": "DE02120300000000202051"})
        client = CLIENTS.create({"name": "Client", "billing_country": "DE"})
        return [
            INVOICES.create({"client_id": client, "line_items": [dict(line) for _ in range(3)]})
            for _ in range(count)
        ]


def _issue(app: Flask, keys: list[int], threads: int) -> tuple[float, list[float]]:
    def issue(key: int) -> float:
        started = time.perf_counter()
        with app.app_context(), acting_as(system_caller("cli")), transaction():
            issue_invoice(key)
        return time.perf_counter() - started

    issue(keys[0])  # fonts and schemas are loaded
    started = time.perf_counter()
    with ThreadPoolExecutor(threads) as pool:
        waits = list(pool.map(issue, keys[1:]))
    return time.perf_counter() - started, waits


def _check(app: Flask, count: int) -> str | None:
    with app.app_context(), transaction():
        numbers = records.connection().execute(select(Invoice.number).order_by(Invoice.number))
        given = [int(number[-5:]) for number in numbers.scalars() if number]
        if given != list(range(1, count + 1)):
            return "numbers have a gap"
        return verify_chain().broken


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--invoices", type=int, default=200)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--postgresql", default="postgresql://postgres@127.0.0.1:5432")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())

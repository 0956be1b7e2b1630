"""A backlog of events drained by two workers, while a tenth of the receivers say nothing.

    python -m bench.webhooks [--events 100000] [--postgresql postgresql://postgres@127.0.0.1:5432]

Twenty endpoints get the same number of events each; two of them take a message and never answer.
Measured is the time until the others have everything. Then the two are repaired, and get theirs.
At the end every event must have been answered once; more than once is explained by at-least-once
only where a process died, and none does here.
"""

from __future__ import annotations

import argparse
import secrets
import sys
import time
from collections.abc import Iterator
from typing import Any

from sqlalchemy import func, insert, select

from app.clock import utc_now
from app.db.engines import transaction
from app.models.event import Event
from app.models.webhook import WebhookDelivery, WebhookEndpoint
from app.webhooks.messages import new_secret, sealed_secret
from bench.receiver import ReceiverProcess
from bench.services import Place, memory_mb, service

ENDPOINTS = 20
SILENT = 2
WORKERS = 2
TYPES = (
    "client.created", "client.updated", "contact.created", "contact.updated", "lead.created",
    "lead.updated", "opportunity.created", "opportunity.updated", "ticket.created",
    "ticket.updated", "invoice.created", "invoice.updated", "task.created", "task.updated",
    "project.created", "project.updated", "document.uploaded", "document.updated",
    "kb_article.created", "kb_article.updated",
)  # fmt: skip
OBJECT = {
    "id": 1, "name": "Acme Incorporated", "email": "info@acme.example", "status": "Active",
    "notes": "x" * 900, "createdAt": "2026-01-31T09:30:00.000Z", "revenue": 1000.0,
}  # fmt: skip


def main() -> int:
    """Measure, print, and fail when something was lost or doubled."""
    options = _options()
    receiver = ReceiverProcess()
    settings = {"WEBHOOK_ALLOW_PRIVATE": "1", "WEBHOOK_RETRY_SCHEDULE": ",".join(["5"] * 30)}
    with service(options.postgresql, **settings) as place:
        try:
            return measure(place, receiver, options.events)
        finally:
            place.stop_all()
            receiver.stop()


def measure(place: Place, receiver: ReceiverProcess, events: int) -> int:
    """Fill, drain, repair, drain; returns the number of problems."""
    register(place, receiver.url)
    fill(place, events)
    each = events // ENDPOINTS
    began = time.monotonic()
    workers = [place.start_worker() for _ in range(WORKERS)]
    memory = Memory(workers)
    prompt = (ENDPOINTS - SILENT) * each
    wait(receiver, memory, lambda stats: total(stats, "different", "prompt") >= prompt)
    seconds = time.monotonic() - began
    first = memory.now()
    report(f"{prompt} deliveries to {ENDPOINTS - SILENT} prompt receivers in {seconds:.1f} s: "
           f"{prompt / seconds:.0f} a second, with start of the workers")  # fmt: skip
    report(f"memory of the workers then {first} MB, at most {memory.most} MB")
    receiver.ask("repair")
    began = time.monotonic()
    wait(receiver, memory, lambda stats: total(stats, "different", "silent") >= SILENT * each)
    report(f"{SILENT * each} to the repaired receivers in {time.monotonic() - began:.1f} s more; "
           f"memory at the end {memory.now()} MB, at most {memory.most} MB")  # fmt: skip
    place.stop_all()
    return judge(place, receiver, each)


def judge(place: Place, receiver: ReceiverProcess, each: int) -> int:
    """Whether each event was answered, and once."""
    stats = receiver.ask("stats")
    with place.app.app_context(), transaction() as session:
        states = dict(
            session.execute(
                select(WebhookDelivery.status, func.count()).group_by(WebhookDelivery.status)
            ).all()
        )
    lost = sum(max(0, each - found["different"]) for found in stats.values())
    doubled = sum(found["answered"] - found["different"] for found in stats.values())
    report(f"lost {lost}, answered twice {doubled}, states in the database {states}")
    return int(lost + doubled > 0 or states != {"succeeded": each * ENDPOINTS})


def register(place: Place, url: str) -> None:
    """An endpoint for each type of event; the last ones are silent."""
    now = utc_now()
    with place.app.app_context(), transaction() as session:
        for number, name in enumerate(TYPES):
            path = (
                f"slow/silent{number}" if number >= ENDPOINTS - SILENT else f"hook/prompt{number}"
            )
            session.execute(
                insert(WebhookEndpoint).values(
                    created_at=now, updated_at=now, url=f"{url}/{path}", events=[name],
                    secret=sealed_secret(new_secret()), status="active", version=1,
                )
            )  # fmt: skip


def fill(place: Place, events: int) -> None:
    """Events as the services write them, the types in turn."""
    for begin in range(0, events, 10_000):
        with place.app.app_context(), transaction() as session:
            rows = list(_events(begin, min(begin + 10_000, events)))
            session.connection().execute(insert(Event.__table__), rows)


def _events(begin: int, end: int) -> Iterator[dict[str, Any]]:
    now = utc_now()
    for number in range(begin, end):
        yield {
            "key": f"evt_{secrets.token_hex(16)}", "created_at": now,
            "type": TYPES[number % len(TYPES)], "entity": "Client", "entity_id": number,
            "sequence": 1,
            "payload": {"object": OBJECT, "actor": {"id": 1, "via": "jwt"}, "sequence": 1},
        }  # fmt: skip


class Memory:
    """The resident memory of processes, looked at now and then."""

    def __init__(self, processes: list[Any]) -> None:
        self._processes = processes
        self.most = 0

    def now(self) -> list[int]:
        found = [round(memory_mb(process)) for process in self._processes]
        self.most = max(self.most, *found)
        return found


def total(stats: dict[str, dict[str, int]], what: str, kind: str) -> int:
    """The sum over the receivers of a kind."""
    return sum(found[what] for name, found in stats.items() if name.startswith(kind))


def wait(receiver: ReceiverProcess, memory: Memory, is_done: Any) -> None:
    """Look every half second, and say every ten how far it is."""
    said = time.monotonic()
    while not is_done(stats := receiver.ask("stats")):
        memory.now()
        if time.monotonic() - said > 10:
            said = time.monotonic()
            report(f"  {total(stats, 'different', '')} answered, memory {memory.now()} MB")
        time.sleep(0.5)


def report(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--postgresql", help="a server; SQLite when left out")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())

"""The whole demonstration as one import file: entity set -> records."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from app.clock import local_day
from app.demo.billing import make_invoices, make_products
from app.demo.clients import make_clients
from app.demo.sales import make_leads, make_opportunities
from app.demo.support import make_articles, make_tickets
from app.demo.work import make_documents, make_projects, make_tasks
from app.demo.world import STAFF, Record, World

# Each may refer to what was made before it.
PARTS: tuple[Callable[[World], None], ...] = (
    make_clients, make_opportunities, make_leads, make_articles, make_tickets, make_projects,
    make_tasks, make_products, make_invoices, make_documents,
)  # fmt: skip
_UTC = ZoneInfo("UTC")


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

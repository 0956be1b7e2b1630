"""``/api/tickets``: what the help desk does besides keeping records."""

from __future__ import annotations

from app.http.areas import Area
from app.operations.rest import publish
from app.tickets.operations import OPERATIONS

area = Area("tickets", __name__, description="Help desk: comments, merging of tickets")
publish(area, *OPERATIONS)

"""``/api/invoices`` and ``/api/payments``: what is done with documents besides writing them."""

from __future__ import annotations

from app.invoices import file_views, link_views, mail_views
from app.invoices.area import area, payments_area
from app.invoices.operations import OPERATIONS
from app.operations.rest import publish

__all__ = ["area", "file_views", "link_views", "mail_views", "payments_area"]

publish(area, *(each for each in OPERATIONS if each.bound_to == "Invoice"))
publish(payments_area, *(each for each in OPERATIONS if each.bound_to == "Payment"))

"""The areas of invoices and payments; their views are in the modules beside."""

from __future__ import annotations

from app.http.areas import Area

area = Area("invoices", __name__, description="Invoices: payments, credit notes, files, mail")
payments_area = Area("payments", __name__, description="Payments: reversal")

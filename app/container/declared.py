"""The operations that the areas declare."""

from __future__ import annotations

from app.crm import operations as crm
from app.documents import operations as documents
from app.invoices import operations as invoices
from app.kb import operations as kb
from app.operations.declaration import Operation
from app.tickets import operations as tickets

DECLARED: tuple[Operation, ...] = tuple(
    operation for area in (crm, tickets, invoices, documents, kb) for operation in area.OPERATIONS
)

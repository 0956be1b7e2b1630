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


def of_many(entity: str) -> dict[str, Operation]:
    """Name in ``allowedActions`` -> the operation, of those offered for many records of a type."""
    return {
        operation.action: operation
        for operation in DECLARED
        if operation.bound_to == entity and operation.action is not None
        and operation.button is not None and operation.button.of_many
    }  # fmt: skip

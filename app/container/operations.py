"""The operations of all areas, and what OData offers of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from app.container.actions import availability
from app.container.clients import CLIENT
from app.container.declared import DECLARED
from app.container.documents import DOCUMENT
from app.container.invoices import INVOICE, PAYMENT, days_overdue
from app.container.sales import LEAD
from app.container.service import KB_ARTICLE, TICKET
from app.odata.model import edm
from app.odata.model.declare import by_name
from app.operations.declaration import Operation
from app.operations.wire_types import complex_type, complex_types, parameters_of

_ENTITIES = by_name([CLIENT, DOCUMENT, INVOICE, KB_ARTICLE, LEAD, PAYMENT, TICKET])


def in_odata(operation: Operation) -> edm.Operation:
    """An operation as an action, or as a function where it changes nothing."""
    permission, *also = operation.permissions
    schema, bound_to, action = operation.arguments, operation.bound_to, operation.action
    return edm.Operation(
        name=operation.name,
        is_action=operation.changes,
        import_name=None if bound_to else operation.name,
        bound_to=bound_to,
        permission=permission,
        also=tuple(also),
        handler=_handler(operation),
        parameters=parameters_of(schema, of_action=operation.changes) if schema else (),
        returns=_returned(operation),
        creates=operation.location is not None,
        on_each=operation.proposed,
        result_path=operation.result_path,
        binds_hidden=operation.binds_hidden,
        available=availability(_ENTITIES[bound_to], action) if bound_to and action else None,
        check=operation.load,
        description=operation.summary,
    )


def _returned(operation: Operation) -> edm.EntityType | edm.ComplexType | None:
    if operation.returns is not None:
        entity: edm.EntityType = _ENTITIES[operation.returns]
        return entity
    return None if operation.answers is None else complex_type(operation.answers)


def _handler(operation: Operation) -> Callable[..., Any]:
    def call(*received: Any) -> Any:
        *keys, arguments = received
        key = keys[0] if keys else None
        result = operation.call(key, operation.load(arguments))
        if operation.returns is not None:
            return operation.key_of(result)
        return None if operation.answers is None else operation.answer(result)

    return call


DAYS_OVERDUE = edm.Operation(
    name="DaysOverdue", is_action=False, bound_to="Invoice", permission="invoices:read",
    parameters=(
        edm.Parameter(
            name="asOf", type=edm.DATE, optional=True, example="2026-12-31",
            description="As of this day; default: today.",
        ),
    ),
    returns=edm.INT64, expression=days_overdue,
    description="Days since the due date of an invoice that is not paid; 0 before, and when it is.",
)  # fmt: skip
OPERATIONS = (*map(in_odata, DECLARED), DAYS_OVERDUE)
OPERATION_TYPES = tuple(
    dict.fromkeys(
        complex_types(
            type_
            for operation in OPERATIONS
            for type_ in (*(each.type for each in operation.parameters), operation.returns)
        )
    )
)

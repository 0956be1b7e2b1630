"""The REST view of an operation."""

from __future__ import annotations

from typing import Any

from app.http.areas import Area
from app.http.dry_run import DryRunSchema, tried
from app.http.security import requires
from app.operations.declaration import Operation
from app.operations.wire_types import names_record


def publish(area: Area, *operations: Operation) -> None:
    """Give each operation its view in an area; it has the name of the service's function."""
    for operation in operations:
        method = area.post if operation.changes else area.get
        assert operation.path is not None
        method(operation.path)(_view(area, operation))


def _view(area: Area, operation: Operation) -> Any:
    def view(*read: Any, **keys: int) -> Any:
        key = next(iter(keys.values()), None)
        is_trial = operation.changes and read[0]["dry_run"]
        with tried(is_trial):
            result = operation.call(key, read[-1] if operation.arguments else {})
            describe = operation.answer_of_trial if is_trial else None
            answer: Any = (describe or operation.answer)(result) if operation.answers else None
        if operation.location is None:
            return answer
        # After a dry run what was made is not there.
        if is_trial:
            return {**answer, "id": None}, 201, {}
        return answer, 201, {"Location": operation.location.format_map(answer)}

    view.__name__ = operation.run.__name__
    view.__doc__ = operation.description
    marked = requires(*operation.permissions)(view)
    status = 204 if operation.answers is None else 201 if operation.location else 200
    marked = area.response(status, operation.answers)(marked)
    if operation.arguments is not None and names_record(operation.arguments):
        marked = area.alt_response(404, response="Error404")(marked)
    if operation.arguments is not None and operation.changes:
        marked = area.arguments(operation.arguments)(marked)
    elif operation.arguments is not None:
        marked = area.arguments(operation.arguments, location="query")(marked)
    if operation.changes:
        marked = area.arguments(DryRunSchema, location="query")(marked)
    return marked

"""Asking the OData service from a page: the same reads, writes and operations, the same rights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.console.wording import translated_message
from app.container.engine import Result, ask, query_text
from app.errors import ApiError, ForbiddenError, refuse_any, telling_all


def read(path: str, **options: str | int | None) -> Result:
    """GET ``path`` (``Clients(1)``) with system query options, ``filter="..."`` without dollars.

    Raises: an ApiError, as the service would answer.
    """
    return ask("GET", path, query_text(options))


def write(
    method: str, path: str, body: Mapping[str, Any], problems: Sequence[tuple[str, str]],
    version: str | None = None,
) -> Any:  # fmt: skip
    """What the service answers to what was typed, as JSON.

    Args:
        problems: what of the form could not be understood: then the rest is only tried.
    Raises: ValidationError, with what is wrong with any field; an ApiError of the service.
    """

    def send() -> Any:
        return ask(method, path, body=body, version=version).body

    def try_rest() -> None:
        try:
            send()
        except ForbiddenError:
            raise
        except ApiError as error:
            refuse_any(error.details)

    with telling_all(try_rest):
        refuse_any(problems)
    return send()


def problems_of(error: ApiError) -> dict[str, str]:
    """Field in wire spelling -> what is wrong with it; ``""`` for the whole."""
    problems = {detail.field: translated_message(detail.message) for detail in error.details}
    return problems or {"": translated_message(error.message)}


def problems_by_field(error: ApiError | None) -> dict[str, str]:
    """``problems_of``, those of an item at the field that has the list; none without an error."""
    if error is None:
        return {}
    return {name.partition("[")[0]: text for name, text in problems_of(error).items()}

"""What the edge asks of each route: read once from the marks on its view."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from flask import Flask

Counting = Literal["principal", "address", "sign-in", "free"]


@dataclass(frozen=True, slots=True)
class RouteRules:
    """Closed unless the view says otherwise."""

    public: bool = False
    permissions: tuple[str, ...] = ()
    counting: Counting = "principal"
    streamed: bool = False
    mailed: bool = False  # what mailers hang on the address is nobody's business


CLOSED = RouteRules()
PUBLIC = RouteRules(public=True, counting="address")


def rules_of(app: Flask) -> dict[str, RouteRules]:
    """The rules of every endpoint of ``app``; one that has none here is closed."""
    return {endpoint: _read_marks(view) for endpoint, view in app.view_functions.items()}


def _read_marks(view: Any) -> RouteRules:
    public = bool(getattr(view, "is_public", False))
    counting: Counting = getattr(view, "counting", "address" if public else "principal")
    streamed = bool(getattr(view, "is_streamed", False))
    mailed = bool(getattr(view, "is_mailed", False))
    return RouteRules(public, getattr(view, "permissions", ()), counting, streamed, mailed)

"""Who is calling: the caller of a request, and the mark of routes that need none."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from flask import Flask

from app.errors import TokenMissingError
from app.permissions import ROLES

View = TypeVar("View", bound=Callable[..., Any])

_caller: ContextVar[Caller | None] = ContextVar("caller", default=None)


@dataclass(frozen=True, slots=True)
class Caller:
    """The principal of a request or a job, with the rights it has right now.

    ``rights`` maps a permission to its scope; ``role_rights`` is the same before an API key's
    scopes narrowed it; ``profile`` is a hashable form of ``rights`` for caches of query plans.
    """

    user_id: int
    username: str
    via: str  # jwt, apiKey, cli, job, ai, system
    rights: Mapping[str, str] = field(compare=False)
    role_rights: Mapping[str, str] = field(compare=False)
    roles: tuple[str, ...] = ()
    profile: frozenset[tuple[str, str]] = frozenset()
    session_key: str | None = None
    api_key_id: int | None = None

    @property
    def principal(self) -> str:
        """The name that limits and idempotency records are counted under."""
        if self.api_key_id is not None:
            return f"key:{self.api_key_id}"
        return f"user:{self.user_id}"


def make_caller(
    user_id: int, username: str, via: str, rights: Mapping[str, str], **more: Any
) -> Caller:
    """A caller with its profile derived from ``rights``."""
    return Caller(
        user_id=user_id,
        username=username,
        via=via,
        rights=rights,
        role_rights=more.pop("role_rights", rights),
        profile=frozenset(rights.items()),
        **more,
    )


def system_caller(via: str = "system") -> Caller:
    """The caller of background jobs and commands: every right; 0 stands for no user."""
    return make_caller(0, via, via, ROLES["Admin"], roles=("Admin",))


def current_caller() -> Caller:
    """The caller of this request or job.

    Raises: TokenMissingError, nobody was authenticated.
    """
    caller = _caller.get()
    if caller is None:
        raise TokenMissingError("Sign in: send a bearer token or an API key.")
    return caller


def find_caller() -> Caller | None:
    """The caller, or None where nobody was authenticated."""
    return _caller.get()


def set_caller(caller: Caller | None) -> None:
    """Make ``caller`` the one of this request; called by the authentication alone."""
    _caller.set(caller)


def visitor() -> Caller:
    """Whoever came by a public link: no user, and no right of a user."""
    return make_caller(0, "public link", "share", {})


@contextmanager
def acting_as(caller: Caller) -> Iterator[None]:
    """Run a job, a command or an assistant's tool as ``caller``."""
    token = _caller.set(caller)
    try:
        yield
    finally:
        _caller.reset(token)


def public(view: View) -> View:
    """Mark a view that may be called without credentials (contract P2)."""
    view.is_public = True  # type: ignore[attr-defined]
    return view


def requires(*permissions: str) -> Callable[[View], View]:
    """Mark a view that only callers with all these reach: 403 before the body is read."""

    def mark(view: View) -> View:
        view.permissions = permissions  # type: ignore[attr-defined]
        return view

    return mark


def counted(counting: str) -> Callable[[View], View]:
    """Mark a public view that is counted otherwise: ``free``, or as a ``sign-in``."""

    def mark(view: View) -> View:
        view.counting = counting  # type: ignore[attr-defined]
        return view

    return mark


def streamed(view: View) -> View:
    """Mark a view that reads the body itself as it comes in: a file, up to ``MAX_UPLOAD_MB``."""
    view.is_streamed = True  # type: ignore[attr-defined]
    return view


# --- what the edge asks of each route: read once from the marks on its view

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

"""The methods of an address, as OPTIONS and a 405 tell them (RFC 9110, 9.3.7 and 15.5.6)."""

from __future__ import annotations

from collections.abc import Iterable

from app.errors import MethodNotAllowedError

READ = ("GET", "HEAD")


def allow(methods: Iterable[str]) -> dict[str, str]:
    """The header ``Allow`` of an address that takes these methods, and OPTIONS like all."""
    return {"Allow": ", ".join((*methods, "OPTIONS"))}


def method_error(method: str, methods: Iterable[str], message: str = "") -> MethodNotAllowedError:
    """The error for a method that an address does not take.

    Args:
        methods: those that it takes.
        message: why; by default only that it does not.
    """
    return MethodNotAllowedError(
        message or f"This address does not take {method}.", headers=allow(methods)
    )

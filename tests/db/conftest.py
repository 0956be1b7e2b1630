"""The fixtures of the services."""

from tests.business import admin

__all__ = ["admin"]

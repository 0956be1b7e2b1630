"""Callers over HTTP, as the contract tests have them."""

from tests.contract.conftest import admin, anonymous, sign_in

__all__ = ["admin", "anonymous", "sign_in"]

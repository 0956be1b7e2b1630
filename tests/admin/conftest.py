"""Callers over HTTP, as the contract tests have them."""

from tests.contract.conftest import admin, anonymous, at_once, sign_in

__all__ = ["admin", "anonymous", "at_once", "sign_in"]

"""The functions and actions of the reference model."""

from __future__ import annotations

from app.odata import edm

OPERATIONS: tuple[edm.Operation, ...] = ()

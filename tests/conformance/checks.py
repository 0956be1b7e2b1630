"""All requirements, those that only read first: the others leave rows behind."""

from __future__ import annotations

from tests.conformance import (
    advanced,
    batches,
    extensions,
    filters,
    intermediate,
    minimal_reading,
    minimal_writing,
)
from tests.conformance.registry import REQUIREMENTS as _REGISTERED, Requirement

_IN_ORDER = (
    minimal_reading, intermediate, filters, advanced, extensions, minimal_writing, batches,
)  # fmt: skip


def _place(one: Requirement) -> int:
    return [module.__name__ for module in _IN_ORDER].index(one.check.__module__)


REQUIREMENTS = {one.number: one for one in sorted(_REGISTERED.values(), key=_place)}

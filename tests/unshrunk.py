"""A plugin of pytest for mutation: few examples, none made smaller, and calls may nest deeper.

Only whether a test fails is asked there, by one test at a time: those that generate examples come
last, as most changes are noticed by one that is over at once. A busy machine fails none. The
tool has calls of its own between ours.
"""

from __future__ import annotations

import sys

import pytest
from hypothesis import HealthCheck, Phase, is_hypothesis_test, settings

EXAMPLES = 15

settings.register_profile(
    "unshrunk",
    max_examples=EXAMPLES,
    phases=(Phase.explicit, Phase.generate),
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
settings.load_profile("unshrunk")
sys.setrecursionlimit(4 * sys.getrecursionlimit())


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put what generates examples behind what does not; the tool names tests in no order."""
    items.sort(key=lambda item: is_hypothesis_test(getattr(item, "obj", None)))

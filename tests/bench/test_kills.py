"""The short form of ``python -m bench.kills`` (DUR-13 to DUR-16)."""

from __future__ import annotations

import pytest

from bench.kills import run, settings
from bench.services import service


@pytest.mark.costly(0)
@pytest.mark.requirement("DUR-01", "DUR-02", "DUR-11", "DUR-12", "DUR-13", "DUR-14", "DUR-15")
def test_nothing_is_lost_when_web_and_worker_are_killed_under_load() -> None:
    with service(**settings()) as place:
        assert run(place, 4, hurry=True) == []

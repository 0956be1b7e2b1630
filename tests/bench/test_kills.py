"""The short form of ``python -m bench.kills`` (DUR-13 to DUR-16)."""

from __future__ import annotations

from bench.kills import run, settings
from bench.services import service


def test_nothing_is_lost_when_web_and_worker_are_killed_under_load() -> None:
    with service(**settings()) as place:
        assert run(place, 4, hurry=True) == []

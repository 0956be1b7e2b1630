"""The short form of ``python -m bench.upload_kills``."""

from __future__ import annotations

import pytest

from bench.services import service
from bench.upload_kills import run, settings


@pytest.mark.costly(0)
@pytest.mark.requirement("DUR-07", "DUR-08")
def test_no_file_is_lost_when_the_web_process_is_killed_under_load() -> None:
    with service(**settings()) as place:
        assert run(place, 2) == []

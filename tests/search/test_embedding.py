"""The embedded model computes here, and tells nobody."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.search.embedding import is_installed

PROGRAM = """
from app.search.embedding import find_model
model = find_model()
(vector,) = model.embed(["How do I reset my password?"])
print(len(vector), round(float(vector @ vector), 3))
"""
# What tells the library that it is in tests, where it keeps still.
_QUIET = ("CI", "TF_BUILD", "GITHUB_ACTIONS", "ORT_DISABLE_TELEMETRY", "ORT_RUNNING_UNIT_TESTS")


@pytest.mark.skipif(not is_installed(), reason="the model is not installed")
def test_the_model_leaves_nothing_at_home_and_sends_nothing(tmp_path: Path) -> None:
    """What its library would send lies in HOME until it is sent."""
    env = {name: value for name, value in os.environ.items() if name not in _QUIET}
    told = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True,
        env={**env, "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")},
    )  # fmt: skip
    assert told.stdout.split() == ["384", "1.0"]
    assert not list(tmp_path.iterdir())

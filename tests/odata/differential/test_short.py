"""A short form of ``make differential``."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.odata.differential.runner import databases, run
from tests.services import SERVICES


@pytest.mark.costly(3)
@pytest.mark.parametrize("seed", [7, 8, 9])
def test_both_databases_and_plain_python_agree(tmp_path: Path, seed: int) -> None:
    kinds = ["sqlite"] if SERVICES["postgresql"].problem else ["sqlite", "postgresql"]
    done: list[int] = []
    with databases(tmp_path, kinds, f"differential_{os.getpid()}") as found:
        run(found, 100, seed=seed, progress=done.append)
    assert done == [100]

"""A short form of ``make differential``."""

from __future__ import annotations

import os
from pathlib import Path

from tests.odata.differential.runner import databases, run
from tests.services import SERVICES


def test_both_databases_and_plain_python_agree(tmp_path: Path) -> None:
    kinds = ["sqlite"] if SERVICES["postgresql"].problem else ["sqlite", "postgresql"]
    done: list[int] = []
    with databases(tmp_path, kinds, f"differential_{os.getpid()}") as found:
        run(found, 300, seed=7, progress=done.append)
    assert done == [300]

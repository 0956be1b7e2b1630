"""``python -m tests.odata.differential [COUNT [SEED]]``: ``make differential``."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

from tests.odata.differential.runner import databases, run
from tests.services import SERVICES

DEFAULT_COUNT = 20_000


def main(arguments: list[str]) -> int:
    count = int(arguments[0]) if arguments else DEFAULT_COUNT
    seed = int(arguments[1]) if len(arguments) > 1 else 1
    kinds = ["sqlite"]
    if SERVICES["postgresql"].problem:
        print(f"PostgreSQL is left out: {SERVICES['postgresql'].problem}")
    else:
        kinds.append("postgresql")
    started = time.perf_counter()

    def progress(done: int) -> None:
        print(f"{done} of {count} queries, 0 differences", flush=True)

    with tempfile.TemporaryDirectory() as folder:
        name = f"differential_{os.getpid()}"
        with databases(Path(folder), kinds, name) as found:
            try:
                run(found, count, seed, progress)
            except AssertionError as error:
                print(f"a difference (seed {seed}):\n{error}")
                return 1
    seconds = time.perf_counter() - started
    print(
        f"{count} queries on {', '.join(kinds)} and the evaluator: 0 differences, {seconds:.0f} s"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

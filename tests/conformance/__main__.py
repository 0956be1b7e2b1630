"""Start the service, try every requirement, print what came of it; 1 where one is not met."""

from __future__ import annotations

import os
import sys
import tempfile
from collections import Counter
from pathlib import Path

from tests.conformance.checks import REQUIREMENTS
from tests.conformance.registry import LEVELS, failure
from tests.conformance.running import running_service


def main() -> int:
    results: dict[str, str | None] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        url = os.environ.get("DATABASE_URL") or f"sqlite:///{folder / 'conformance.db'}"
        with running_service(folder, url) as service:
            for number, one in REQUIREMENTS.items():
                results[number] = failure(one, service)
    order = list(LEVELS)
    passed: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for number in sorted(results, key=lambda one: (order.index(one[:3]), one)):
        one, problem = REQUIREMENTS[number], results[number]
        print(f"{number} {one.weight:6} {'pass' if problem is None else 'FAIL'}  {one.text}")
        if problem is not None:
            print(f"    {problem}")
        for group in (one.level, f"{one.level}, MUST") if one.weight == "MUST" else (one.level,):
            total[group] += 1
            passed[group] += problem is None
    print()
    for group in total:
        print(f"{group}: {passed[group]} of {total[group]}")
    return int(any(problem is not None for problem in results.values()))


if __name__ == "__main__":
    sys.exit(main())

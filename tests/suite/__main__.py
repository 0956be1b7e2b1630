"""Try each expectation, print what came of it; 1 where one fails that is not argued."""

from __future__ import annotations

import os
import sys
import tempfile
from collections import Counter
from pathlib import Path

from tests.suite.expectations import EXPECTATIONS
from tests.suite.registry import argued
from tests.suite.service import reference_service


def main() -> int:
    accepted = argued()
    met: Counter[str] = Counter()
    total: Counter[str] = Counter()
    open_, unmet = [], 0
    with tempfile.TemporaryDirectory() as folder:
        url = os.environ.get("DATABASE_URL") or f"sqlite:///{Path(folder) / 'suite.db'}"
        with reference_service(url) as service:
            for one in EXPECTATIONS:
                problem = one.failure(service)
                total[one.section] += 1
                met[one.section] += problem is None
                if problem is None:
                    continue
                unmet += 1
                word = "argued" if one.name in accepted else "FAIL"
                open_ += [one.name] if word == "FAIL" else []
                print(f"{word}  {one.name}\n    {problem}")
    print()
    for section in total:
        print(f"{met[section]:4} of {total[section]:4}  {section}")
    print(
        f"\n{sum(met.values())} of {sum(total.values())} met, {unmet - len(open_)} argued", end=""
    )
    print(f", {len(open_)} open")
    return int(bool(open_))


if __name__ == "__main__":
    sys.exit(main())

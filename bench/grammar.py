"""What parsing costs, as texts grow: time for each character must not.

    python -m bench.grammar [--rounds 5]

Each text is made of one piece repeated; the limits of a request are lifted here, so that the growth
shows. The best round counts. A column is microseconds of CPU for a thousand characters.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from app.odata.errors import QueryError
from app.odata.syntax.lexer import Limits
from app.odata.syntax.options import OptionTexts, parse_filter, parse_options, shape_options
from app.odata.syntax.search import parse_search

UNBOUND = Limits(depth=10**9, nodes=10**9)
SIZES = (4_000, 16_000, 64_000)


def _chain(piece: str, joint: str) -> Callable[[int], str]:
    return lambda size: joint.join([piece] * max(size // (len(piece) + len(joint)), 1))


def _shape(text: str) -> Any:
    return shape_options(OptionTexts({"filter": text}, {}))


CASES: dict[str, tuple[Callable[[str], Any], Callable[[int], str]]] = {
    "or": (lambda text: parse_filter(text, limits=UNBOUND), _chain("a eq 1", " or ")),
    "functions": (
        lambda text: parse_filter(text, limits=UNBOUND),
        _chain("contains(tolower(a),'x')", " and "),
    ),
    "in": (
        lambda text: parse_filter(f"a in ({text})", limits=UNBOUND),
        _chain("'text'", ","),
    ),
    "a text": (lambda text: parse_filter(f"a eq '{text}'", limits=UNBOUND), _chain("it''s ", "")),
    "expand": (
        lambda text: parse_options([("$expand", text)], limits=UNBOUND),
        _chain("A($select=b,c)", ","),
    ),
    "search": (lambda text: parse_search(text, limits=UNBOUND), _chain("word", " ")),
    "shape": (_shape, _chain("a eq 2024-05-31 and b gt 1.5", " or ")),
    "open quotes": (lambda text: parse_filter(text, limits=UNBOUND), _chain("'a' '", " ")),
    "parentheses": (lambda text: parse_filter(text, limits=UNBOUND), _chain("(", "")),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    print(f"{'':12}" + "".join(f"{size:>10,}" for size in SIZES) + "    growth")
    worst = 0.0
    for name, (parse, make) in CASES.items():
        costs = [_cost(parse, make(size), rounds) for size in SIZES]
        growth = costs[-1] / costs[0]
        worst = max(worst, growth)
        print(f"{name:12}" + "".join(f"{cost:10.1f}" for cost in costs) + f"{growth:10.2f}")
    return int(worst > 4)  # a text 16 times as long, read in quadratic time, would cost 16 times


def _cost(parse: Callable[[str], Any], text: str, rounds: int) -> float:
    best = float("inf")
    for _ in range(rounds):
        started = time.process_time()
        with suppress(QueryError):
            parse(text)
        best = min(best, time.process_time() - started)
    return best * 1e9 / len(text)


if __name__ == "__main__":
    sys.exit(main())

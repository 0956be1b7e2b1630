"""Numbers of which one is enough: ``invoices under 100 or over 500``."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from app.bi.nlq.agreement import NUMBER
from app.bi.plans.plan import Condition


def of_either(
    conditions: Sequence[Condition], alternatives: Collection[int]
) -> tuple[list[Condition], list[int]]:
    """``under 100 or over 500``: numbers of which one is enough, and where other alternatives are.

    Args:
        alternatives: places of conditions with an "or" before them.
    """
    found: list[Condition] = []
    others = []
    for place, one in enumerate(conditions):
        last = found[-1] if found and place in alternatives else None
        bounds = [NUMBER.fullmatch(each.text) for each in (last, one) if each is not None]
        paths = {match[1] for match in bounds if match is not None}
        if last is not None and all(bounds) and len(paths) == 1:
            words = f"{last.words} or {one.words}"
            found[-1] = replace(last, text=f"{last.text} or {one.text}", words=words)
            continue
        others += [len(found)] if place in alternatives else []
        found.append(one)
    return found, others

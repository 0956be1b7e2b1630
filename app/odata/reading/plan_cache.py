"""Plans by the shape of their query: one is made once for all queries of its shape."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Sequence
from contextlib import suppress
from threading import Lock

from app.odata.reading.plan import Plan
from app.odata.syntax.nodes import LiteralValue

MOST_PLANS = 2000
# A plan of the usual size has some 5 KB, one of the longest query that is accepted half a megabyte:
# without this, whoever asks such queries would have the process grow as far as it can.
MOST_BYTES = 8 * 1024 * 1024
# Plans of one shape that differ by what a literal decides, such as whether a text is long enough
# for the index.
_MOST_VARIANTS = 8


class PlanCache:
    """Plans by the shape of their query; the least recently used goes first.

    Args:
        most: shapes that are kept.
        most_bytes: what their plans may weigh together (``Plan.estimated_bytes``).
    """

    def __init__(self, most: int = MOST_PLANS, most_bytes: int = MOST_BYTES) -> None:
        self._most = most
        self._most_bytes = most_bytes
        self.estimated_bytes = 0
        self._plans: OrderedDict[Hashable, tuple[Plan, ...]] = OrderedDict()
        self._lock = Lock()
        self.hits = 0
        self.misses = 0

    def __len__(self) -> int:
        return len(self._plans)

    def shapes(self) -> list[Hashable]:
        """What plans are kept under, the least recently used first."""
        return list(self._plans)

    def plans(self, key: Hashable) -> tuple[Plan, ...]:
        return self._plans.get(key, ())

    def find(self, key: Hashable, literals: Sequence[LiteralValue]) -> Plan | None:
        """The plan under ``key`` that fits the literals; None when there is none yet."""
        for plan in self._plans.get(key, ()):
            if plan.fits(literals):
                with suppress(KeyError):  # dropped by another thread meanwhile
                    self._plans.move_to_end(key)
                return plan
        return None

    def count(self, *, hit: bool) -> None:
        """Note whether a request found its plan."""
        if hit:
            self.hits += 1
        else:
            self.misses += 1

    def keep(self, key: Hashable, plan: Plan) -> None:
        """Add a plan beside those of its shape."""
        with self._lock:
            before = self._plans.pop(key, ())
            variants = self._plans[key] = (plan, *before)[:_MOST_VARIANTS]
            self.estimated_bytes += _estimated_bytes(variants) - _estimated_bytes(before)
            while len(self._plans) > self._most or self.estimated_bytes > self._most_bytes:
                _, dropped = self._plans.popitem(last=False)
                self.estimated_bytes -= _estimated_bytes(dropped)


def _estimated_bytes(plans: Sequence[Plan]) -> int:
    return sum(plan.estimated_bytes for plan in plans)

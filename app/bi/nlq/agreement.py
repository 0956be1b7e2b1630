"""Conditions that no record fulfils together: they were not meant so, and nothing is no answer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from decimal import Decimal

from app.bi.nlq.checking import UnclearError
from app.bi.plans.plan import Condition

# ``status eq 'Open'``, ``status in ('Won','Lost')``.
_VALUES = re.compile(r"([\w/]+) (?:eq ('[^']*')|in \(([^)]*)\))")
_LITERAL = re.compile(r"'[^']*'|[\w.-]+")
_DAYS = re.compile(r"([\w/]+) (lt|le|gt|ge) (\d{4}-\d\d-\d\d|now\(\))(?:T[\d:]+Z)?")
# ``total gt 500``.
NUMBER = re.compile(r"([\w/]+) (lt|le|gt|ge) (-?\d+(?:\.\d+)?)")
_AND = re.compile(r" and (?![^(]*\))")


def check_agreement(conditions: Sequence[Condition], means: Mapping[str, str], today: date) -> None:
    """No record is open and closed, or paid and overdue.

    Args:
        means: what else is so where a flag is set, such as ``isOverdue``.
    Raises: UnclearError.
    """
    known: dict[str, tuple[set[str], str]] = {}
    days: dict[tuple[str, bool], tuple[str, str]] = {}
    numbers: list[tuple[str, str, Decimal, str]] = []
    denied = {one.text: one.words for one in conditions if one.negated}
    for one in conditions:
        if one.negated:
            continue
        for part in _parts(one.text, means, today):
            if part in denied:
                raise UnclearError(f"how something is {one.words} and not {denied[part]} at once")
            if match := _VALUES.fullmatch(part):
                values = set(_LITERAL.findall(match[2] or match[3]))
                among, words = known.get(match[1], (values, one.words))
                if not among & values:
                    raise UnclearError(f"how something is {words} and {one.words} at once")
                known[match[1]] = (among & values, one.words)
            elif match := _DAYS.fullmatch(part):
                day = match[3].replace("now()", str(today))
                days[match[1], match[2] in ("gt", "ge")] = (day, one.words)
            elif match := NUMBER.fullmatch(part):
                numbers.append((match[1], match[2], Decimal(match[3]), one.words))
    _check_days(days)
    _check_numbers(numbers)


def _check_days(days: Mapping[tuple[str, bool], tuple[str, str]]) -> None:
    """What is due before today is not due from today on."""
    for (path, is_lowest), (first, words) in days.items():
        last = days.get((path, False)) if is_lowest else None
        if last is not None and first >= last[0]:
            raise UnclearError(f"how something is {last[1]} and {words} at once")


def _check_numbers(numbers: Sequence[tuple[str, str, Decimal, str]]) -> None:
    """Nothing is over 500 and under 100."""
    for path, low, least, words in numbers:
        for other, high, most, more in numbers:
            if path != other or low not in ("gt", "ge") or high not in ("lt", "le"):
                continue
            if least > most or (least == most and (low, high) != ("ge", "le")):
                raise UnclearError(f"how something is {words} and {more} at once")


def _parts(text: str, means: Mapping[str, str], today: date) -> Iterator[str]:
    """What all has to hold; of alternatives nothing is said."""
    if " or " in text:
        return
    for part in _AND.split(text):
        yield part
        if part in means:
            yield from _parts(means[part].replace("{today}", str(today)), {}, today)

"""How long it took from one thing to another: ``days from invoice to payment``.

Both are dates of the record, so that every two that a kind of record has can be asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.bi.nlq.vocabulary import Entity
from app.bi.plans.entities import Measure, spoken
from app.bi.words.tokens import Token

_UNITS = {"day": "days", "hour": "hours", "time": "", "long": "", "week": "days"}
_BEGINNING, _ENDING = ("from", "between", "since"), ("to", "until", "till", "and", "through")
_SMALL = ("the", "a", "an", "its", "their", "our", "of", "being", "it", "was", "were", "is", "are",
          "they", "date", "day", "we", "when")  # fmt: skip
_BEFORE = ("number", "of", "how", "many", "much", "doe", "it", "take", "took", "do", "did", "that",
           "pass", "passed", "lie", "on", "average", "usually", "typically", "elapsed", "in",
           "taken")  # fmt: skip
_LONGEST = 5
# What sets the date of what was done against another date.
_OPERATORS = {"after": "gt", "past": "gt", "later": "gt", "beyond": "gt", "before": "lt"}
_SECONDS = {"days": 86400, "hours": 3600}


def lapse_at(
    tokens: Sequence[Token], at: int, entity: Entity
) -> tuple[int, Mapping[str, Any]] | None:
    """How many words here ask for the time between two dates, and the figure that they mean."""
    begin = _leading(tokens, at)
    if begin is None or entity.join is not None:
        return None
    unit = next((one.stem for one in tokens[at:begin] if one.stem in _UNITS), "")
    first = _moment(tokens, begin + 1, entity)
    if first is None or first[1] >= len(tokens) or tokens[first[1]].stem not in _ENDING:
        return None
    second = _moment(tokens, first[1] + 1, entity)
    if second is None or first[0] == second[0]:
        return None
    measure = lapse(entity, first[0], second[0], _UNITS[unit])
    return second[1] - at, {"measure": measure}


def is_done_after(tokens: Sequence[Token], at: int, entity: Entity) -> bool:
    """Whether what was done stands here, and another date that it is set against behind it."""
    kinds = entity.lexicon.get((tokens[at].stem,), ())
    done = next((str(one.value["date"]) for one in kinds
                 if one.kind == "state" and one.value.get("date")), None)  # fmt: skip
    return at + 1 < len(tokens) and after_at(tokens, at + 1, entity, done) is not None


def after_at(
    tokens: Sequence[Token], at: int, entity: Entity, done: str | None
) -> tuple[int, Mapping[str, Any]] | None:
    """``finished after their due date``: how many words set the date of what was done against
    another, and the state that they say."""
    begin = at + 2 if [one.stem for one in tokens[at : at + 2]] == ["later", "than"] else at + 1
    operator = _OPERATORS.get(tokens[at].stem)
    if operator is None or done is None or entity.join is not None:
        return None
    other = _moment(tokens, begin, entity)
    if other is None or other[0] in (done, entity.date):
        return None
    days = [entity.is_date(one) for one in (done, other[0])]
    first, second = _alike(done, other[0], days)
    said = "after" if operator == "gt" else "before"
    state = {"text": f"{first} {operator} {second}", "date": done, "amount": None,
             "words": f"{said} {_said(other[0])}"}  # fmt: skip
    return other[1] - at, {"state": state}


def _leading(tokens: Sequence[Token], at: int) -> int | None:
    """The place of the ``from`` that a word for time stands before."""
    place, timed = at, False
    while place < len(tokens) and not (place > at and tokens[place].apart and not timed):
        word = tokens[place].stem
        if word in _BEGINNING and timed:
            return place
        timed = timed or word in _UNITS
        if word not in _UNITS and word not in _BEFORE:
            return None
        place += 1
    return None


def _moment(tokens: Sequence[Token], at: int, entity: Entity) -> tuple[str, int] | None:
    """The date that words from here on mean, and where they end."""
    while at < len(tokens) and tokens[at].stem in _SMALL:
        at += 1
    named = at < len(tokens) and tokens[at].stem in entity.nouns
    goes_on = named and at + 1 < len(tokens) and tokens[at + 1].stem not in _ENDING
    if goes_on and (found := _moment(tokens, at + 1, entity)) is not None:
        return found  # "lead creation"
    moments = _moments(entity)
    for length in range(min(_LONGEST, len(tokens) - at), 0, -1):
        words = " ".join(token.stem for token in tokens[at : at + length])
        if words in moments:
            end = at + length
            while end < len(tokens) and tokens[end].stem in ("date", "day"):
                end += 1
            return moments[words], end
    return (entity.date, at + 1) if named else None


def _moments(entity: Entity) -> Mapping[str, str]:
    """What the dates of a record are called: as what was done, and as what happened."""
    found: dict[str, str] = {}
    for stems, meanings in entity.lexicon.items():
        for one in meanings:
            path = one.value if one.kind in ("date", "property") else None
            if one.kind == "state":
                path = one.value.get("date")
            if path is not None and _is_dated(entity, str(path)):
                found.setdefault(" ".join(stems), str(path))
    for path, words in entity.data.get("moments", {}).items():
        found |= dict.fromkeys(words, path)
    return found


def _is_dated(entity: Entity, path: str) -> bool:
    kind = getattr(getattr(entity.prop(path), "type", None), "name", "")
    return kind in ("Edm.Date", "Edm.DateTimeOffset")


def lapse(entity: Entity, first: str, second: str, unit: str = "") -> Measure:
    """The figure of how long it took from one date to another."""
    usual = "hours" if entity.data.get("lapses_in_hours") else "days"
    days = [entity.is_date(one) for one in (first, second)]
    unit = "days" if any(days) else unit or usual
    begin, end = _alike(first, second, days)
    label = f"{unit} from {_said(first)} to {_said(second)}"
    value = f"totalseconds({end} sub {begin}) div {_SECONDS[unit]}"
    known = next((one for _, one in entity.measures if one.value == value), None)
    return known or Measure(
        label=label.capitalize(), value=value, filter=f"{first} ne null and {second} ne null",
        unit=unit, average=True, low_is_good=True, date=second,
    )  # fmt: skip


def _alike(first: str, second: str, days: Sequence[bool]) -> tuple[str, str]:
    """Two dates as they are compared: an instant beside a day as its day."""
    both = zip((first, second), days, strict=True)
    one, other = (path if is_day or not any(days) else f"date({path})" for path, is_day in both)
    return one, other


def _said(path: str) -> str:
    return spoken(path).removesuffix(" at")

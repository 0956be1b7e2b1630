"""``and more than 90?``: the question before with another number, in the unit that it had."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.bi.nlq.slots import COMPARING, positions
from app.bi.nlq.vocabulary import Vocabulary
from app.bi.periods.spans import CLOCK_UNITS, GRAINS
from app.bi.words.tokens import Token

_NUMBERS = ("number", "percent")
_UNITS = frozenset((*GRAINS, *CLOCK_UNITS))
_AROUND = {"and_then", "or", "stop"}
_UPWARDS = ("more_than", "at_least")


@dataclass(frozen=True)
class _Limit:
    """A comparison and its number: places of tokens, the second one behind the last."""

    operator: str
    begin: int
    number: int
    end: int

    @property
    def has_unit(self) -> bool:
        return self.end > self.number + 1

    @property
    def is_upwards(self) -> bool:
        return self.operator in _UPWARDS


def is_limit_alone(tokens: Sequence[Token], vocabulary: Vocabulary) -> bool:
    """Whether a question says one limit, and nothing else."""
    limits = _limits(tokens, vocabulary)
    return len(limits) == 1 and _is_alone(tokens, limits[0], vocabulary)


def restated(
    tokens: Sequence[Token], earlier: Sequence[Token], vocabulary: Vocabulary
) -> str | None:
    """The earlier question with the limit of this one, which says nothing else.

    None where the earlier one has no limit or several, or where both limits may hold at once
    (``over 100`` and then ``below 500``).

    Args:
        tokens: of a question for which ``is_limit_alone``.
    """
    (said,), old = _limits(tokens, vocabulary), _limits(earlier, vocabulary)
    if len(old) != 1:
        return None
    kept = old[0]
    if said.has_unit and not kept.has_unit:
        return None
    is_range = said.is_upwards != kept.is_upwards
    if is_range and not kept.has_unit and tokens[said.number].kind == "number":
        return None
    unit = tokens[said.number + 1 : said.end] or earlier[kept.number + 1 : kept.end]
    number = tokens[said.number].text
    if earlier[kept.number].kind == "percent" and tokens[said.number].kind == "number":
        number += " %"
    words = [*earlier[: kept.begin], *tokens[said.begin : said.number]]
    texts = [token.text for token in words]
    rest = [token.text for token in (*unit, *earlier[kept.end :])]
    return " ".join([*texts, number, *rest])


def _limits(tokens: Sequence[Token], vocabulary: Vocabulary) -> list[_Limit]:
    found = []
    for begin, end, kinds in positions(tokens, vocabulary):
        operator = next((one for one in COMPARING if one in kinds), None)
        if operator is None or end >= len(tokens) or tokens[end].kind not in _NUMBERS:
            continue
        has_unit = end + 1 < len(tokens) and tokens[end + 1].stem in _UNITS
        found.append(_Limit(operator, begin, end, end + 1 + has_unit))
    return found


def _is_alone(tokens: Sequence[Token], limit: _Limit, vocabulary: Vocabulary) -> bool:
    """Whether nothing is said but the limit."""
    around = [*range(limit.begin), *range(limit.end, len(tokens))]
    small = {
        at
        for begin, end, kinds in positions(tokens, vocabulary)
        if _AROUND & set(kinds)
        for at in range(begin, end)
    }
    return set(around) <= small

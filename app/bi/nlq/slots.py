"""A question cut into slots: runs of words with what they can mean for one entity."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from app.bi.nlq.about import Topic, topic_at
from app.bi.nlq.lapses import after_at, is_done_after, lapse_at
from app.bi.nlq.pairs import pair_at
from app.bi.nlq.pending import is_pending
from app.bi.nlq.period_places import Found, PeriodPlaces
from app.bi.nlq.values import Names
from app.bi.nlq.vocabulary import Entity, Meaning, Phrase, Vocabulary
from app.bi.periods.spans import CLOCK_UNITS, GRAINS, MONTHS
from app.bi.words.tokens import Token

LONGEST_PHRASE = 6
# What is longer leads out of every calendar: in months, and in weeks, days or hours.
LONGEST_IN_MONTHS, LONGEST_IN_OTHERS = 12_000, 100_000
_WAYS = ("from", "through", "via")
COMPARING = ("more_than", "at_least", "less_than", "at_most", "exactly")


@dataclass(frozen=True)
class Slot:
    """Words that belong together; ``meanings`` maps each possible kind to its value."""

    text: str
    meanings: Mapping[str, Any]
    apart: bool = False  # a comma stands before it

    def __contains__(self, kind: str) -> bool:
        return kind in self.meanings

    def __getitem__(self, kind: str) -> Any:
        return self.meanings[kind]


def scan(
    tokens: Sequence[Token], entity: Entity, vocabulary: Vocabulary, names: Names,
    periods: PeriodPlaces,
) -> list[Slot]:  # fmt: skip
    """The slots of a question, in its order; what means nothing is of the kind ``unknown``."""
    found: list[Slot] = []
    period_at = periods.of(tokens)
    at = 0
    while at < len(tokens):
        if topic := _topic(tokens, at, entity, vocabulary, names):
            text = " ".join(_shown(token) for token in tokens[at : at + topic.length])
            found.append(Slot(text, {"about": topic}, tokens[at].apart))
            at += topic.length
            continue
        pair = (
            None if is_done_after(tokens, at, entity) else pair_at(tokens, at, entity, vocabulary)
        )
        if pair:
            text = " ".join(_shown(token) for token in tokens[at : at + pair[0]])
            found.append(Slot(text, pair[1], tokens[at].apart))
            at += pair[0]
            continue
        if lapse := lapse_at(tokens, at, entity) or after_at(tokens, at, entity, _done(found)):
            text = " ".join(_shown(token) for token in tokens[at : at + lapse[0]])
            found.append(Slot(text, lapse[1], tokens[at].apart))
            at += lapse[0]
            continue
        after_sign = bool(found) and any(kind in found[-1] for kind in COMPARING)
        if after_sign and (number := _number(tokens, at, entity, vocabulary)):
            length, meanings = number  # "over 2000" is no year
        else:
            length, meanings = _range(tokens, at, entity, vocabulary) or _at(
                tokens, at, entity, vocabulary, names, period_at
            )
        text = " ".join(_shown(token) for token in tokens[at : at + length])
        found.append(Slot(text, meanings, tokens[at].apart))
        at += length
    return found


def _done(slots: Sequence[Slot]) -> str | None:
    """The date of what was said to be done last."""
    for one in reversed(slots):
        if "duration" in one:
            return None  # "paid more than 10 days after the due date"
        path = one.meanings.get("date") or one.meanings.get("state", {}).get("date")
        if path is not None:
            return str(path)
    return None


def _topic(
    tokens: Sequence[Token], at: int, entity: Entity, vocabulary: Vocabulary, names: Names
) -> Topic | None:
    """``about printers``: a text to look for; what is a name or a state is meant as that."""
    found = topic_at(tokens, at, vocabulary) if "about" in entity.data else None
    if found is None or names.find(tokens, found.begin, entity):
        return None
    stated = entity.lexicon.get((tokens[found.begin].stem,), ())
    return None if any(one.kind in ("state", "subset") for one in stated) else found


def _shown(token: Token) -> str:
    """A word as the answer says it: without the slip, in the plural where it was."""
    if token.repaired_from is None:
        return token.text
    is_plural = token.text.lower().endswith("s") and not token.stem.endswith("s")
    return f"{token.stem}s" if is_plural else token.stem


def _at(
    tokens: Sequence[Token], at: int, entity: Entity, vocabulary: Vocabulary, names: Names,
    period_at: Callable[[int], Found],
) -> tuple[int, Mapping[str, Any]]:  # fmt: skip
    token = tokens[at]
    is_named = token.is_capital and at + 1 < len(tokens) and tokens[at + 1].is_capital
    if token.kind == "quoted" and (match := names.titled(tokens, at, entity)):
        return match.length, {"value": match.values}
    if (token.kind == "quoted" or is_named) and (match := names.find(tokens, at, entity)):
        return match.length, {"value": match.values}
    if found := _is_category(tokens, at, entity, vocabulary) and names.own(token, entity):
        return 1, {"value": found}
    if _is_code(tokens, at, vocabulary) and (match := names.find(tokens, at, entity)):
        return match.length, {"value": match.values}
    if token.stem in vocabulary.tagging and (match := names.find(tokens, at, entity)):
        return match.length, {"value": match.values}
    if match := names.titled(tokens, at, entity):
        return match.length, {"value": match.values}
    length, meanings = _phrase(tokens, at, entity, vocabulary)
    period = period_at(at)
    if "refused" in meanings and (match := names.find(tokens, at, entity)):
        return match.length, {"value": match.values}  # "next step send the revised offer"
    if set(meanings) == {"property"} and _is_way(tokens, at):
        match = names.find(tokens, at, entity)
        if match and all(one.kind.startswith("text:") for one in match.values):
            return match.length, {"value": match.values}  # "through the website"
    if clock := vocabulary.periods.clock_back(tokens, at):
        return clock[0], {"clock_back": clock[1:]}
    if within := _within(tokens, at, entity, vocabulary):
        return within[0], {**within[1], **({"period": period[1]} if period else {})}
    if (grain := vocabulary.periods.grain(tokens, at)) and grain[0] >= length:
        return grain[0], {"grain": grain[1]}
    if period and period[0] >= length:
        return period[0], {"period": period[1]}
    if length:
        return length, meanings
    if number := _number(tokens, at, entity, vocabulary):
        return number
    if cycle := vocabulary.periods.cycle(tokens, at):
        return cycle[0], {"unit": cycle[1]}
    if token.stem in GRAINS:
        return 1, {"unit": token.stem}
    if match := names.find(tokens, at, entity):
        return match.length, {"value": match.values}
    if match := names.loosely(tokens, at, entity):
        return match.length, {"value": match.values}
    return 1, {"unknown": token.text}


def _is_way(tokens: Sequence[Token], at: int) -> bool:
    """Whether it is said before how something came."""
    before = [one.stem for one in tokens[max(0, at - 2) : at]]
    before = before[:-1] if before[-1:] == ["the"] else before
    return before[-1:] != [] and before[-1] in _WAYS


def _is_category(tokens: Sequence[Token], at: int, entity: Entity, vocabulary: Vocabulary) -> bool:
    """``data tickets``: a small word before the noun, which may be a category of them."""
    kinds = {one.kind for one in vocabulary.words.get((tokens[at].stem,), ())}
    behind = tokens[at + 1].stem if at + 1 < len(tokens) else ""
    own = (tokens[at].stem,) in entity.lexicon
    return kinds == {"stop"} and behind in entity.nouns and not own and len(tokens[at].text) > 3


def _is_code(tokens: Sequence[Token], at: int, vocabulary: Vocabulary) -> bool:
    """``IT people``, ``US clients``: a short name in capitals that would be a small word else."""
    text = tokens[at].text
    small = any(one.kind == "stop" for one in vocabulary.words.get((tokens[at].stem,), ()))
    return small and text.isupper() and len(text) == 2 and any(o.text.islower() for o in tokens)


def _range(
    tokens: Sequence[Token], at: int, entity: Entity, vocabulary: Vocabulary
) -> tuple[int, Mapping[str, Any]] | None:
    """``between 1000 and 2000``; of years it is a period."""
    if at + 3 >= len(tokens) or "between" not in _phrase(tokens, at, entity, vocabulary)[1]:
        return None
    low, high = tokens[at + 1], tokens[at + 3]
    if low.number is None or high.number is None or vocabulary.periods.is_year(low):
        return None
    if vocabulary.periods.is_month(tokens[at + 4 : at + 6]):
        return None  # "between 1 and 15 May"
    length = 5 if at + 4 < len(tokens) and vocabulary.is_percent(tokens[at + 4]) else 4
    percent = {"percent": True} if length > 4 or high.kind == "percent" else {}
    return length, {"range": (_scaled(low, high), high.number), **percent}


def _scaled(low: Token, high: Token) -> Decimal | None:
    """``between 1 and 1.5 million``: the lower one is of millions, too."""
    if low.number is None or high.number is None or high.kind != "number":
        return low.number
    scale = high.number / (Decimal(high.stem) or 1)
    is_plain = low.number == Decimal(low.stem)
    return low.number * scale if is_plain and low.number * scale < high.number else low.number


def _phrase(
    tokens: Sequence[Token], at: int, entity: Entity, vocabulary: Vocabulary
) -> tuple[int, Mapping[str, Any]]:
    """The longest phrase that begins here, with all its meanings."""
    for length in range(min(LONGEST_PHRASE, len(tokens) - at), 0, -1):
        stems: Phrase = tuple(token.stem for token in tokens[at : at + length])
        if length > 1 and _compares(tokens[at + length - 1 : at + length + 2], vocabulary):
            continue  # "paid at least": what compares belongs to the number
        found: list[Meaning] = [
            *entity.lexicon.get(stems, ()),
            *vocabulary.words.get(stems, ()),
        ]
        if found and not any(token.apart for token in tokens[at + 1 : at + length]):
            meanings: dict[str, Any] = {}
            for meaning in found:
                meanings.setdefault(meaning.kind, meaning.value)
            return length, meanings
    return 0, {}


def _compares(tokens: Sequence[Token], vocabulary: Vocabulary) -> bool:
    """Whether two words compare with the number behind them: ``at least 10``."""
    if len(tokens) < 3 or (
        tokens[2].number is None and vocabulary.periods.number(tokens[2]) is None
    ):
        return False
    meanings = vocabulary.words.get(tuple(token.stem for token in tokens[:2]), ())
    return any(one.kind in COMPARING for one in meanings)


def _within(
    tokens: Sequence[Token], at: int, entity: Entity, vocabulary: Vocabulary
) -> tuple[int, Mapping[str, Any]] | None:
    """``within 24 hours``: of what is done, how long it took at most; else a period to come."""
    length, meanings = _phrase(tokens, at, entity, vocabulary)
    if "within" not in meanings or at + length >= len(tokens):
        return None
    number = _number(tokens, at + length, entity, vocabulary)
    if number is None or "duration" not in number[1]:
        return None
    return length + number[0], {"within_time": number[1]["duration"]}


def _unit(token: Token, entity: Entity) -> bool:
    """Whether it is a unit of time; hours only where they are nothing that records have."""
    counted = any(words[0] == token.stem for words in entity.lexicon)
    return token.stem in GRAINS or (token.stem in CLOCK_UNITS and not counted)


def _number(
    tokens: Sequence[Token], at: int, entity: Entity, vocabulary: Vocabulary
) -> tuple[int, Mapping[str, Any]] | None:
    """A number, or a number of hours, days, weeks, months or years."""
    token = tokens[at]
    value = token.number if token.kind in ("number", "percent") else None
    if value is None:
        word = vocabulary.periods.number(token)
        if word is None and vocabulary.periods.is_article(token):
            timed = at + 1 < len(tokens) and _unit(tokens[at + 1], entity)
            return (2, {"duration": (1, tokens[at + 1].stem)}) if timed else None  # "than a week"
        value = None if word is None else Decimal(word)
    if value is None:
        return None
    if at + 1 < len(tokens) and _unit(tokens[at + 1], entity):
        unit = tokens[at + 1].stem
        longest = LONGEST_IN_MONTHS // MONTHS[unit] if unit in MONTHS else LONGEST_IN_OTHERS
        if value <= longest:
            return 2, {"duration": (int(value), unit)}
    if at + 1 < len(tokens) and vocabulary.is_percent(tokens[at + 1]):
        return 2, {"number": value, "percent": True}  # "50 percent"
    return 1, {"number": value, **({"percent": True} if token.kind == "percent" else {})}


def _of_own(lexicon: Mapping[Phrase, list[Meaning]], stems: Phrase) -> list[Meaning] | None:
    """What words mean for an entity; of single words only those that name its records."""
    found = lexicon.get(stems)
    is_named = found is not None and any(one.kind == "subset" for one in found)
    return found if len(stems) > 1 or is_named else None


def positions(
    tokens: Sequence[Token], vocabulary: Vocabulary, entity: Entity | None = None
) -> list[tuple[int, int, dict[str, object]]]:
    """Phrases of the general vocabulary: begin, end, kind -> value.

    What an entity calls its own comes first: ``credit limit`` of a client is no credit note.
    """
    own = {} if entity is None else entity.lexicon
    found = []
    at = 0
    while at < len(tokens):
        for length in range(min(6, len(tokens) - at), 0, -1):
            stems = tuple(token.stem for token in tokens[at : at + length])
            meanings = vocabulary.words.get(stems) or _of_own(own, stems)
            if meanings:
                found.append((at, at + length, {one.kind: one.value for one in meanings}))
                at += length
                break
        else:
            at += 1
    return found


def dates_of(slot: Slot) -> set[str]:
    """The dates that a slot is about: its own, or by when it is to be done."""
    state = slot.meanings.get("state", {})
    waits = state.get("date") if is_pending(state.get("words", "")) else None
    return {one for one in (slot.meanings.get("date"), waits) if one is not None}

"""Questions that leave open what they are about: ``top 10``, ``what is still open?``.

Every word of such a question is known, and none says of what records or figures; the choices are
the same question about each of what it may be about, its period and number kept.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from app.bi.nlq.naming import AmbiguousName
from app.bi.nlq.owned import Owned
from app.bi.nlq.slots import LONGEST_PHRASE, positions
from app.bi.nlq.understood import Understood
from app.bi.nlq.vocabulary import Vocabulary
from app.bi.periods.spans import GRAINS
from app.bi.words.tokens import Token

MOST_CHOICES = 4
# Why nothing is made of a ranking by no figure, and the words that rank so.
UNRANKED = "by what "
_RANK = re.compile(r"\b(?:top|best|bottom|worst)\b", re.IGNORECASE)
_POLITELY = re.compile(r",? (?:please|pls|thanks)$", re.IGNORECASE)
_POINTING = ("it", "that")
# Kinds of words, the more telling ones first: what the choices are about.
_SHAPES = {
    "compared": ("compare", "change", "previous", "trend", "shift_year", "shift_month"),
    "newest": ("newest",),
    "oldest": ("oldest",),
    "highest": ("top", "best", "most", "highest"),
    "lowest": ("bottom", "worst", "least", "lowest"),
    "average": ("average",),
    "counted": ("count",),
    "total": ("sum", "how_much", "amount"),
}
_BARE = {"sum", "amount", "average"}
_PLAIN = {"stop", "list", "listed", "and_then", "auxiliary", "or", "with", "me", "unit", "thing"}
_STATES = ("state", "date")
_NAMING = ("noun", "subset")
_LEADS = ("in", "for", "of", "during", "from")
_TIMED = "timed"  # nothing but a period


@dataclass
class _Said:
    """What the words of such a question say."""

    kinds: set[str] = field(default_factory=set)
    states: list[tuple[str, ...]] = field(default_factory=list)
    state_words: list[str] = field(default_factory=list)
    has_state: bool = False  # that is no mere verb
    periods: list[str] = field(default_factory=list)
    number: str = ""
    unit: str = ""  # "by month", "which month"
    things: bool = False  # "numbers", "everything"
    whole: bool = True  # every word is known, and none is about records


class Vague(Owned):
    """The part of understanding that is about questions without a subject."""

    @abstractmethod
    def _repaired(self, text: str) -> list[Token]:
        """The words of a text: names as one word each, slips mended."""

    @abstractmethod
    def _rewritten(self, question: str) -> str:
        """The question with idioms said plainly; names keep their capitals."""

    def _ambiguous(self, text: str) -> Understood | None:
        """A wording that the vocabulary knows to have several meanings."""
        return self._chosen(text, self._vocabulary.ambiguous)

    def _not_said(self, text: str) -> Understood | None:
        """What the vocabulary offers for a wording that nothing was made of."""
        return self._chosen(text, self._vocabulary.wordings.offered) or self._of_some_time(text)

    def _of_some_time(self, text: str) -> Understood | None:
        """``tickets from the other day``: the same question of days that can be told."""
        for pattern, periods in self._vocabulary.wordings.some_time:
            if not pattern.search(text):
                continue
            said = (pattern.sub(period, text, count=1) for period in periods)
            kept = tuple(one[:1].upper() + one[1:] for one in said if self._is_plain(one))
            if kept:
                return Understood(choices=kept, reason="what time is meant")
        return None

    def _unranked(self, text: str, found: Understood) -> Understood | None:
        """``top 3 open deals``: the figures that they may be ranked by."""
        if not (found.reason or "").startswith(UNRANKED):
            return None
        plain = _POLITELY.sub("", " ".join(text.strip(" ?!.").split()))
        ranks = list(_RANK.finditer(plain))
        said_kinds = [kinds for _, _, kinds in positions(self._repaired(plain), self._vocabulary)]
        nouns = (kinds["noun"] for kinds in said_kinds if "noun" in kinds)
        rankings = self._vocabulary.wordings.rankings.get(str(next(nouns, "")), ())
        if len(ranks) != 1 or any("by" in kinds for kinds in said_kinds):
            return None
        before, after = plain[: ranks[0].start()], plain[ranks[0].end() :]
        said = ranks[0][0].lower()
        rank = "bottom" if said in ("bottom", "worst") else "top"
        offered = [f"{before}{rank}{after} {one}" for one in rankings if one.startswith("by ")]
        if said == "top":
            offered += [f"{before}{one}{after}" for one in rankings if not one.startswith("by ")]
        kept = [one[:1].upper() + one[1:] for one in offered if self._is_plain(one)][:MOST_CHOICES]
        if len(kept) < 2:
            return None
        return Understood(choices=tuple(kept), reason=found.reason)

    def _chosen(
        self, text: str, wordings: Sequence[tuple[re.Pattern[str], list[str]]]
    ) -> Understood | None:
        for pattern, choices in wordings:
            if said := pattern.fullmatch(text.strip(" ?!.")):
                kept = tuple(filter(None, (self._offered(said, one) for one in choices)))
                if kept:
                    return Understood(choices=kept[:MOST_CHOICES],
                                      reason="it can be meant in several ways")  # fmt: skip
        return None

    def _offered(self, said: re.Match[str], choice: str) -> str:
        """A choice with what was said in it; nothing where it would not be understood."""
        if "\\" not in choice:
            return choice
        text = said.expand(choice)
        return text if self._is_plain(text) else ""

    def _is_plain(self, text: str) -> bool:
        """Whether a question has one meaning."""
        plain = self._rewritten(text)
        if any(one.fullmatch(plain.strip(" ?!.")) for one, _ in self._vocabulary.ambiguous):
            return False
        try:
            return len(self._whole(self._repaired(plain)).plans) == 1
        except AmbiguousName:
            return False

    def _of_no_kind(self, tokens: Sequence[Token]) -> Understood | None:
        """The choices where only a state is said that records of several kinds can have.

        ``how much was it last year`` is as vague, while a verb may tell: ``how much did we make``.
        """
        said = self._said_of(tokens)
        pointing = any(one.stem in _POINTING for one in tokens)
        pointing = pointing and said.kinds - _PLAIN == {"how_much"}
        bare = "amount" in said.kinds and said.kinds - _PLAIN <= _BARE  # "total value?"
        return self._vague(tokens) if said.has_state or pointing or bare else None

    def _of_one_kind(self, tokens: Sequence[Token]) -> Understood | None:
        """``what's in negotiation``: records of the only kind that can be so, if less surely."""
        said = self._said_of(tokens)
        asked = {"list", "count"} & said.kinds and said.kinds - _PLAIN <= {"count"}
        if not (said.whole and said.has_state and asked):
            return None
        kept = [one for one in self._with_state(said) if self._is_plain(one)]
        if len(kept) != 1:
            return None
        found = self._whole(self._repaired(kept[0]))
        plans = (one.with_assumption(f"taken as “{kept[0]}”") for one in found.plans)
        return Understood(plans=tuple(replace(one, unsure=one.unsure + 1) for one in plans))

    def _of_groups_alone(self, tokens: Sequence[Token]) -> Understood | None:
        """``2 most common categories per channel``: of the only kind that has both groups."""
        kinds = {kind for _, _, one in positions(tokens, self._vocabulary) for kind in one}
        if "noun" in kinds or "by" not in kinds or not kinds & {"most", "least", "top", "count"}:
            return None
        found = []
        for entity in self._vocabulary.entities.values():
            words = {one.stem for one in tokens}
            if entity.join is None and any(
                len(one) == 1 and one[0] in words for one in entity.lexicon
            ):
                noun = Token(f"{entity.one}s", entity.one)
                plan = self._plan_of(entity, [*tokens, Token("of", "of"), noun])
                found += [plan] if plan is not None and len(plan.dimensions) > 1 else []
        if len(found) != 1:
            return None
        made = found[0].with_assumption(f"taken as about {found[0].entity.many}")
        return Understood((replace(made, unsure=made.unsure + 1),))

    def _vague(self, tokens: Sequence[Token]) -> Understood | None:
        """The choices of a question that does not say what it is about; None for any other."""
        said = self._said_of(tokens)
        if not said.whole:
            return None
        if said.states:
            counts = {"how_much", "amount", "sum", "average", *_SHAPES["compared"]} & said.kinds
            offered = [] if counts else self._with_state(said)
        else:
            offered = self._about(said)
        kept = [text for text in offered if self._is_plain(text)][:MOST_CHOICES]
        if len(kept) < 2:
            return None
        return Understood(choices=tuple(kept), reason="it does not say of what")

    def _about(self, said: _Said) -> list[str]:
        """The question about each of the usual figures or records."""
        vague: Mapping[str, Sequence[str]] = self._vocabulary.wordings.vague
        shape = next((name for name, kinds in _SHAPES.items() if set(kinds) & said.kinds), None)
        if shape is None and (said.things or said.periods):
            shape = _TIMED
        if shape in ("compared", None) and said.unit:
            shape = "by_unit"
        elif said.unit:
            shape = "best_unit" if shape == "highest" else "by_unit"
        if shape == "compared" and (len(said.periods) > 1 or self._is_with_last(said)):
            shape = "side_by_side"
        if shape is None or len(said.periods) > 2:
            return []
        period, other = [*said.periods, "", ""][:2]
        offered = vague[shape] if period else vague.get(f"{shape}_ever", vague[shape])
        number = said.number or ("5" if "{n}" in "".join(offered) else "")
        filled = [
            one.format(n=number, period=period, other=other, unit=said.unit) for one in offered
        ]
        return [" ".join(one.split()).replace(" ?", "?") for one in filled]

    @staticmethod
    def _is_with_last(said: _Said) -> bool:
        """``compared with last year``: this year is what is compared, whether it is said or not."""
        lead, _, unit = said.periods[0].partition(" ") if len(said.periods) == 1 else ("", "", "")
        is_last = (
            "compare" in said.kinds and lead.lower() in ("last", "previous") and unit in GRAINS
        )
        if is_last:
            said.periods.insert(0, f"this {unit}")
        return is_last

    def _with_state(self, said: _Said) -> list[str]:
        """The question about each kind of record that can be in the state."""
        kinds: Mapping[str, str] = self._vocabulary.wordings.kinds
        entities = [
            entity
            for entity in (self._vocabulary.entities[key] for key in kinds)
            if all(
                any(one.kind in _STATES for one in entity.lexicon.get(words, ()))
                for words in said.states
            )
        ]
        rank = next((one for one in ("newest", "oldest") if one in said.kinds), "")
        lead = "How many" if "count" in said.kinds else f"{said.number} {rank}"
        tail = " ".join(said.periods)
        state = " ".join(said.state_words)
        found = []
        for entity in entities:
            noun = kinds[entity.key]
            pending = state.startswith("to be")
            text = f"{lead} {noun} {state} {tail}" if pending else f"{lead} {state} {noun} {tail}"
            text = " ".join(text.split())
            found.append(text[:1].upper() + text[1:])
        return found

    def _said_of(self, tokens: Sequence[Token]) -> _Said:
        said = _Said()
        at = 0
        while at < len(tokens) and said.whole:
            at = self._take_word(tokens, at, said)
        return said

    def _take_word(self, tokens: Sequence[Token], at: int, said: _Said) -> int:
        """What stands at this place; returns the next one."""
        token, vocabulary = tokens[at], self._vocabulary
        stated = _state_at(tokens, at, vocabulary, _STATES)
        if (length := _thing(tokens, at, vocabulary)) and not stated:
            said.things = True
            return at + length
        found = positions(tokens[at:], vocabulary)
        length, kinds = (found[0][1], set(found[0][2])) if found and not found[0][0] else (0, set())
        if (period := self._periods.of(tokens)(at)) and period[0] >= length:
            said.periods.append(_period_text(tokens, at, period[0]))
            return at + period[0]
        if stated and stated >= length:
            said.has_state = said.has_state or bool(_state_at(tokens, at, vocabulary, ("state",)))
            said.states.append(tuple(one.stem for one in tokens[at : at + stated]))
            said.state_words.append(" ".join(one.text.lower() for one in tokens[at : at + stated]))
            return at + stated
        if token.stem in GRAINS and not said.unit and not said.number:
            said.unit = token.stem
            return at + 1
        if kinds == {"by"} and at + length < len(tokens) and tokens[at + length].stem in GRAINS:
            return at + length
        if token.kind == "number" or (not length and vocabulary.periods.number(token) is not None):
            said.whole = said.whole and not said.number
            said.number = token.stem if token.kind == "number" else token.text.lower()
            return at + 1
        telling = {kind for kinds in _SHAPES.values() for kind in kinds}
        if length and kinds <= telling | _PLAIN and not token.is_capital:
            said.kinds |= kinds
            return at + length
        talks = token.stem in vocabulary.wordings.polite or token.stem in vocabulary.pronouns
        said.whole = talks and token.kind == "word"
        return at + 1


def _thing(tokens: Sequence[Token], at: int, vocabulary: Vocabulary) -> int:
    """How many words are only ``numbers`` or ``everything``."""
    things = vocabulary.wordings.things
    for length in (2, 1):
        if tuple(one.stem for one in tokens[at : at + length]) in things:
            return length
    return 0


def _state_at(
    tokens: Sequence[Token], at: int, vocabulary: Vocabulary, kinds: Sequence[str]
) -> int:
    """How many words from here are a state of records of some kind."""
    for length in range(min(LONGEST_PHRASE, len(tokens) - at), 0, -1):
        stems = tuple(one.stem for one in tokens[at : at + length])
        if any(vocabulary.is_of_records(one, _NAMING) for one in stems):
            continue  # "blocked clients", "drafts": the records are named
        if tokens[at + length - 1].text.lower() == f"{stems[-1]}s":
            continue  # "calls": no state either
        for entity in vocabulary.entities.values():
            if any(one.kind in kinds for one in entity.lexicon.get(stems, ())):
                return length
    return 0


def _period_text(tokens: Sequence[Token], at: int, length: int) -> str:
    """A period as it was written: ``in June``, ``since May``, ``last month``."""
    period = tokens[at + (tokens[at].stem in _LEADS) : at + length]
    text = " ".join(one.text for one in period)
    return f"in {text}" if period and _is_name(period[0]) else text


def _is_name(token: Token) -> bool:
    """Whether a period begins with its own name: ``June``, ``Q2``, ``2025``."""
    return token.kind == "number" or any(one.isdigit() for one in token.text) or token.is_capital

"""What the grammar makes of a question: the plan of its likeliest meaning, and how sure that is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from app.bi.currencies import in_one_currency
from app.bi.nlq.compiling import compiled
from app.bi.nlq.plan import Plan
from app.bi.nlq.spans import Calendar
from app.bi.questions import ranker
from app.bi.questions.understanding import Understood, language_of, understanding_of

SURE = 0.8  # confidence from which on a question is answered without asking back
UNSURE = 0.7  # at most, where something was left aside
CERTAIN, _SUREST = 0.975, 0.95
_LIGHT = frozenset((  # words of the grammar that may be left aside without a doubt
    "of", "in", "for", "with", "to", "on", "from", "at", "is", "are", "was", "were", "which",
    "what", "who", "list", "show", "have", "has", "had", "by", "do", "does", "did", "that",
))  # fmt: skip
_LEAST = 0.01  # what is less likely is not looked at


@dataclass(frozen=True)
class Proposal:
    """The plans of the likeliest meanings, the likeliest first; none where nothing is understood.

    ``chance_of_right`` is the share of questions that were answered rightly where the choice was as
    clear as here, of questions that were not used to learn it.
    """

    plans: tuple[Plan, ...]
    chance_of_right: float
    understood: Understood

    @property
    def is_certain(self) -> bool:
        """Whether nothing else need be asked what the question means."""
        return bool(self.plans) and self.chance_of_right >= CERTAIN

    @property
    def confidence(self) -> float:
        """How sure it is said to be: never over 0.95, for language is language."""
        return min(_SUREST, self.chance_of_right)

    @property
    def is_sure(self) -> bool:
        """Whether it may be answered without asking back."""
        return bool(self.plans) and self.confidence >= SURE


def propose(question: str, now: Calendar, before: Sequence[str] = ()) -> Proposal:
    """Understand a question under the rights of the caller.

    Args:
        before: the questions before it in the same session, the oldest first; what names no kind
            of record by itself goes on from them.
    """
    code = language_of(question, before)
    fitted = ranker.fitted(code)
    understood = understand(question, now, before, code)
    best = understood.analyses[0]
    if best.plan is None:
        return Proposal((), 0.0, understood)
    repaired = understood.read.repaired
    plans, likely = [], []
    for one, told in zip(understood.analyses, understood.chances, strict=True):
        if one.plan is not None and told >= _LEAST:
            plans.append(in_one_currency(replace(one.plan, repaired=repaired)))
            likely.append(told)
    # Analyses that ask the data the same are one answer.
    asked = [compiled(one).query.url for one in plans]
    chance = sum(told for told, url in zip(likely, asked, strict=True) if url == asked[0])
    confidence = ranker.calibrated(chance, fitted.calibration)
    if is_unsure(best.features):
        confidence = min(confidence, UNSURE)
    others = [one for one, url in zip(plans, asked, strict=True) if url != asked[0]]
    return Proposal((plans[0], *others[:1]), confidence, understood)


def language_asked(question: str, before: Sequence[str] = ()) -> str:
    """The language of a question, after those before it in its session."""
    return language_of(question, before)


def understand(question: str, now: Calendar, before: Sequence[str], code: str) -> Understood:
    """The meanings of a question, by itself or as it goes on from those before it."""
    language, weights = understanding_of(code), ranker.fitted(code).weights
    alone = language.understand(question, now, weights)
    best = alone.analyses[0]
    is_whole = best.meaning is not None and f"kind unnamed {best.meaning.kind}" not in best.features
    if not before or (is_whole and not language.goes_on(alone.read)):
        return alone
    previous = understand(before[-1], now, before[:-1], code).analyses[0].meaning
    if previous is None:
        return alone
    followed = language.follow(previous, question, now, weights)
    return alone if followed.analyses[0].plan is None else followed


def is_unsure(features: Iterable[str]) -> bool:
    """Whether a word that carries content was left aside, or a name is that of several records."""
    names = set(features)
    crossed = [one for one in names if one.startswith("cross ")]
    light = all(one.startswith("cross word ") and one.split()[-1] in _LIGHT for one in crossed)
    return "several records" in names or not light

"""A question understood: its meanings with how likely each is."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

from app.bi.nlq.spans import Calendar
from app.bi.questions import ranker
from app.bi.questions.algebra import Meaning
from app.bi.questions.chart import Item
from app.bi.questions.finish import finished
from app.bi.questions.lexicon import Lexicon
from app.bi.questions.periods import Periods
from app.bi.questions.reading import Read, Reader
from app.bi.questions.rules import Grammar

MOST_ANALYSES = 10
LANGUAGES = ("en",)


@dataclass(frozen=True)
class Analysis:
    """One way to understand a question."""

    meaning: Meaning
    score: float
    features: tuple[str, ...]
    item: Item | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Understood:
    """The analyses of a question, the likeliest first."""

    language: str
    analyses: tuple[Analysis, ...]
    chances: tuple[float, ...]
    read: Read
    is_cut: bool = False


class Understanding:
    """Understands questions of one language."""

    def __init__(self, code: str) -> None:
        self.lexicon = Lexicon(code)
        self.grammar = Grammar(self.lexicon)

    def understand(self, question: str, now: Calendar, weights: ranker.Weights) -> Understood:
        """The meanings of a question that stands by itself."""
        periods = Periods(self.lexicon.reader, now)
        reader = Reader(self.lexicon, periods, self.grammar)
        read = reader.read(question)
        parsed = reader.parsed(read, weights)
        found: dict[Meaning, Analysis] = {}
        for item in parsed.items:
            for one in finished(item.meaning, self.lexicon.model):
                features = (*item.all_features(), *one.features)
                total = ranker.score(features, weights)
                known = found.get(one.meaning)
                if known is None or known.score < total:
                    found[one.meaning] = Analysis(one.meaning, total, features, item)
        best = sorted(found.values(), key=lambda one: -one.score)[:MOST_ANALYSES]
        chances = tuple(ranker.chances([one.score for one in best]))
        return Understood(self.lexicon.code, tuple(best), chances, read, parsed.is_cut)

    def rules_of(self, question: str, now: Calendar, weights: ranker.Weights) -> set[str]:
        """The names of the rules that combine some words of a question."""
        reader = Reader(self.lexicon, Periods(self.lexicon.reader, now), self.grammar)
        cells = reader.parsed(reader.read(question), weights).cells.values()
        used = {feature for cell in cells for item in cell for feature in item.features}
        return {one.removeprefix("rule ") for one in used if one.startswith("rule ")}


@lru_cache(maxsize=len(LANGUAGES))
def understanding_of(code: str) -> Understanding:
    """What understands a language; read at its first question."""
    return Understanding(code)


def language_of(question: str) -> str:
    """The language whose words the question has most of."""
    return LANGUAGES[0]

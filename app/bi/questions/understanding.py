"""A question understood: its meanings with how likely each is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from threading import RLock

from app.auth.users import language_of_account
from app.bi.periods.spans import Calendar
from app.bi.plans.columns import Compiled
from app.bi.plans.compiling import compiled
from app.bi.plans.plan import Plan
from app.bi.questions import ranker
from app.bi.questions.algebra import Equals, Meaning
from app.bi.questions.chart import Item, Parsed
from app.bi.questions.compile import Compiler
from app.bi.questions.drafts import Draft
from app.bi.questions.features import features_of, of_meaning, repeated_and_aside
from app.bi.questions.finish import Finished, finished
from app.bi.questions.follow import followed
from app.bi.questions.lexicon import (
    LANGUAGES,
    Lexicon,
    Options,
    Phrase,
    begins,
    first_place,
    places,
)
from app.bi.questions.model import TypeMismatchError
from app.bi.questions.names import Names
from app.bi.questions.periods import Periods
from app.bi.questions.reading import THIS, Read, Reader
from app.bi.questions.roles import words
from app.bi.questions.rules import Grammar
from app.bi.questions.stored import FORGOTTEN, Standing
from app.bi.words.tokens import tokenise
from app.http.security import current_caller

MOST_ANALYSES = 8
LEAST_CHANCE = 0.01  # what is less likely is not looked at
# Of threads whose first questions come together one reads: what each had made would stay as holes.
_reading = RLock()


@dataclass(frozen=True)
class Analysis:
    """One way to understand a question; without a meaning: that it is none that is answered."""

    meaning: Meaning | None
    score: float
    features: tuple[str, ...]
    plan: Plan | None = None
    item: Item | None = field(default=None, compare=False, repr=False)
    aside: tuple[int, ...] = ()  # places of the chart whose words are left aside

    @cached_property
    def compiled(self) -> Compiled | None:
        """The query of its plan."""
        return None if self.plan is None else compiled(self.plan)

    @cached_property
    def query(self) -> str:
        """What it asks the data: those that ask the same are one answer; empty for none."""
        return "" if self.compiled is None else self.compiled.query.url

    @cached_property
    def crossed(self) -> frozenset[int]:
        """The places of the chart that nothing was made of."""
        return frozenset() if self.item is None else frozenset(self.item.all_crossed())

    @property
    def draft(self) -> Draft:
        """What its words add up to; empty where they are no question by themselves."""
        meaning = None if self.item is None else self.item.meaning
        return meaning if isinstance(meaning, Draft) else Draft(frozenset())

    @property
    def names_nothing(self) -> bool:
        """Whether it asks for no property, group or figure, but at most whether it is so."""
        meaning = self.meaning
        return meaning is None or not (meaning.columns or meaning.groups or meaning.figures)

    def passed_over(self, read: Read, *, light: bool = True) -> int:
        """How many words nothing was made of; without the ``light`` ones, those of content."""
        crossings = (read.crossing[position] for position in self.crossed)
        return sum(light or not ranker.is_light(crossing) for crossing in crossings)

    def is_decisive_aside(self, read: Read) -> bool:
        """Whether a word that decides what is meant is left aside."""
        is_ranked = self.meaning is not None and self.meaning.ranking is not None
        return any(ranker.is_decisive(read.crossing[position], is_ranked=is_ranked)
                   for position in self.crossed)  # fmt: skip


@dataclass(frozen=True)
class Understood:
    """The analyses of a question with how likely each is; those of the likeliest answer first."""

    language: str
    analyses: tuple[Analysis, ...]
    chances: tuple[float, ...]
    read: Read
    is_cut: bool = False
    goes_on: bool = False  # it is an operation on the meaning before
    left: tuple[str, ...] = ()  # words of the questions before that were left aside there
    lacks: str = ""  # why it cannot go on: the name of a refusal, and what it is about
    standing: Standing = FORGOTTEN  # what the next question goes on from
    asked_paths: tuple[str, ...] | None = None  # of the record looked at: ``beside.asked_of``

    @property
    def understanding(self) -> Understanding:
        """What understands its language."""
        return understanding_of(self.language)

    @property
    def lexicon(self) -> Lexicon:
        """The words of its language."""
        return self.understanding.lexicon

    @property
    def likelihoods(self) -> list[tuple[Analysis, float]]:
        """Each analysis with how likely it is."""
        return list(zip(self.analyses, self.chances, strict=True))

    @property
    def is_of_before(self) -> bool:
        """Whether it goes on, or a word of it stands for what was named before."""
        return self.goes_on or THIS in self.analyses[0].features

    @property
    def is_question(self) -> bool:
        """Whether its words ask how much or how many."""
        return any(leaf.category in words("how_much") | {"measure"} for leaf in self.read.leaves)

    @property
    def is_of_all(self) -> bool:
        """Whether it says that all records are meant, or ours, or names others."""
        named = [leaf for leaf in self.read.leaves if leaf.category == "value"
                 and not {THIS, "leaf mine"} & {*leaf.features}]  # fmt: skip
        is_named = any(not leaf.meaning.key.startswith("text:") for leaf in named)
        return is_named or self.understanding.says(self.read.stems, "everyone")


class Understanding:
    """Understands questions of one language."""

    def __init__(self, code: str) -> None:
        self.lexicon = Lexicon(code)
        self.grammar = Grammar(self.lexicon)

    def understand(
        self, question: str, now: Calendar, weights: ranker.Weights,
        previous: Meaning | None = None, *, beside: bool = False,
    ) -> Understood:  # fmt: skip
        """The meanings of a question that stands by itself, but for ``this client``, which is the
        one that was named before; ``beside`` a record that it is looked at, and so is ``it``."""
        periods = self._periods(now)
        reader = Reader(self.lexicon, periods, self.grammar)
        this = None if previous is None else self._named_in(previous, any_kind=beside)
        read = reader.read(question, this=this, refers=beside)
        if any(THIS in leaf.features for leaf in read.leaves):
            self._pass_over(read, pronouns=not beside)
        parsed = reader.parsed(read, weights)
        endings = ((item, ending) for item in parsed.items
                   for ending in finished(item.meaning, self.lexicon.model))  # fmt: skip
        planned = self._analyses(read, endings, periods, weights)
        if beside:
            of_it = [analysis for analysis in planned if THIS in analysis.features]
            planned = of_it or planned
        if any(not analysis.passed_over(read, light=False) for analysis in planned):
            # What "not" and "converted to" say is left aside only where nothing reads it.
            planned = [analysis for analysis in planned if not analysis.is_decisive_aside(read)]
        best = sorted(planned, key=lambda analysis: -analysis.score)[:MOST_ANALYSES]
        nothing = self._nothing(read, parsed)
        best.append(Analysis(None, ranker.score(nothing, weights), nothing))
        analyses, chances = _likeliest(best)
        return Understood(self.lexicon.code, analyses, chances, read, parsed.is_cut)

    def _named_in(self, previous: Meaning, *, any_kind: bool) -> Options | None:
        """The one client or project, or record of any kind, that a meaning names."""
        kinds = self.lexicon.model.kinds
        if previous.kind not in kinds:  # of a release before
            return None
        dimensions = kinds[previous.kind].dimensions
        named = (key for key, kind in kinds.items() if kind.called_by == "name")
        for owner in (previous.kind,) if any_kind else named:
            theirs = dimensions.get(kinds[owner].data["one"])
            path = "id" if previous.kind == owner else theirs and theirs.key
            for part in previous.where:
                if isinstance(part, Equals) and part.path == path and len(part.values) == 1:
                    return Names(self.lexicon).of_record(owner, [(part.label, part.values[0])])
        return None

    def plan_of(self, meaning: Meaning, now: Calendar) -> Plan | None:
        """The plan of a meaning that was kept; None where the model has none for it any more."""
        try:
            checked = self.lexicon.model.checked(meaning)
        except (TypeMismatchError, KeyError):
            return None
        return _plan(Compiler(self.lexicon, self._periods(now)), checked)

    def _periods(self, now: Calendar) -> Periods:
        return Periods(self.lexicon.reader, now, self.lexicon.english)

    def goes_on(self, read: Read) -> bool:
        """Whether it begins as something that goes on does (``and``, ``by``), or has a pronoun."""
        adding = any(leaf.start == 0 and leaf.category in words("adding") for leaf in read.leaves)
        leads = adding or begins(read.stems, self.lexicon.follows)
        return leads or self.refers(read.stems) or self.says(read.stems, "beside")

    def refers(self, stems: Phrase) -> bool:
        """Whether a pronoun stands for what was asked about before."""
        return self.says(stems, "pronouns") or self.says(stems, "persons")

    def _referring(self, stems: Phrase) -> str:
        """What its pronoun stands for: a person, the records before; empty without one."""
        if self.says(stems, "persons"):
            return "person"
        return "records" if self.refers(stems) else ""

    def looks(self, question: str) -> bool:
        """Whether it only looks how the records before are: ``is it paid``."""
        stems = tuple(self.lexicon.stem(token.text) for token in tokenise(question))
        return begins(stems, self.lexicon.phrases("language", "looks"))

    def _chooses(self, read: Read) -> bool:
        """Whether it asks which of them: a pronoun right behind the word, or as its end."""
        pronouns = self.lexicon.phrases("language", "pronouns")
        ends = {leaf.end for leaf in read.leaves if leaf.category == "f:list"}
        stems = enumerate(read.stems)
        return any((stem,) in pronouns and {at, at + 1} & ends for at, stem in stems)

    def says(self, stems: Phrase, name: str) -> bool:
        """Whether a phrase of a list of the language stands anywhere."""
        return first_place(stems, self.lexicon.phrases("language", name)) is not None

    def _pass_over(self, read: Read, *, pronouns: bool = True) -> None:
        """Words that say no more than that something goes on."""
        names = ("pronouns", "persons") if pronouns else ()
        words = (self.lexicon.phrases("language", name) for name in names)
        empty = self.lexicon.follows.union(*words)
        for start, end in places(read.stems, empty):
            for at in range(read.places[start], read.places[end]):
                read.crossing[at] = "going on"

    def follow(
        self, previous: Meaning, question: str, now: Calendar, weights: ranker.Weights
    ) -> Understood:
        """What a question means that goes on from another, as operations on its meaning."""
        periods = self._periods(now)
        reader = Reader(self.lexicon, periods, self.grammar)
        stems = tuple(self.lexicon.stem(token.text) for token in tokenise(question))
        several = self.lexicon.data["language"].get("several", ())
        is_plural = any(token.text.lower() in several for token in tokenise(question))
        flags = ("before", *(("plural",) * is_plural))
        same = Draft(frozenset((previous.kind,)), previous.kind, flags=frozenset(flags))
        read = reader.read(question, same)
        self._pass_over(read)
        parsed = reader.parsed(read, weights)
        refers, beside = self._referring(stems), self.says(stems, "beside")
        lists = refers == "records" and self._chooses(read)
        endings = (
            (item, ending) for item in parsed.cells.get((0, read.length), ())
            for ending in followed(previous, item, self.lexicon.model, refers=refers,
                                   beside=beside, lists=lists)
        )  # fmt: skip
        analyses = self._analyses(read, endings, periods, weights, goes_on=True)
        over = [analysis.passed_over(read, light=False) for analysis in analyses]
        whole = [analysis for analysis, count in zip(analyses, over, strict=True)
                 if count == min(over)]  # fmt: skip
        # What is of the same records comes before what is of others, but those that they have.
        alike = {previous.kind, *self.lexicon.model.kinds[previous.kind].related}
        best = sorted(whole, key=lambda analysis: (
            analysis.meaning is None or analysis.meaning.kind not in alike, -analysis.score
        ))[:MOST_ANALYSES]  # fmt: skip
        best = best or [Analysis(None, 0.0, ("nothing",))]
        chances = tuple(ranker.chances([analysis.score for analysis in best]))
        return Understood(self.lexicon.code, tuple(best), chances, read, parsed.is_cut, True)

    def _analyses(
        self, read: Read, endings: Iterable[tuple[Item, Finished]], periods: Periods,
        weights: ranker.Weights, *, goes_on: bool = False,
    ) -> list[Analysis]:  # fmt: skip
        """Each meaning that has a plan, by the best of the items that it was made of."""
        compiler, analyses = Compiler(self.lexicon, periods), dict[Meaning, Analysis]()
        for item, (meaning, taken) in endings:
            again, aside = repeated_and_aside(
                read, item, meaning, self.lexicon.model.kinds[meaning.kind]
            )
            own = of_meaning(meaning) if goes_on else features_of(read, item, meaning)
            features = (*item.all_features(), *again, *taken, *own)
            score, known = ranker.score(features, weights), analyses.get(meaning)
            if known is None or known.score < score:
                plan = known.plan if known is not None else _plan(compiler, meaning)
                analyses[meaning] = Analysis(meaning, score, features, plan, item, aside)
        return [analysis for analysis in analyses.values() if analysis.plan is not None]

    def _nothing(self, read: Read, parsed: Parsed) -> tuple[str, ...]:
        """The features of not answering."""
        stems = read.stems
        features = ["nothing", f"nothing begins {stems[0] if stems else ''}"]
        for phrases, name in ((self.lexicon.beyond, "beyond"), (self.lexicon.commands, "command")):
            for start, end in places(stems, phrases):
                first = " first" if start == 0 and name == "command" else ""
                if not read.means(start, end):
                    features.append(f"nothing {name}{first}")
        strange = ("cross unknown", "cross name", "cross num")
        features += [f"nothing {name}" for name in read.crossing if name.startswith(strange)]
        if parsed.is_cut:
            features.append("nothing cut")
        return tuple(features)


def _likeliest(analyses: list[Analysis]) -> tuple[tuple[Analysis, ...], tuple[float, ...]]:
    """Analyses with how likely each is; first those whose answer is, told by all that ask it.

    Of those that ask the same one that passes over nothing says what was understood.
    """
    chances = ranker.chances([analysis.score for analysis in analyses])
    likelihoods = [(analysis, chance, analysis.query if chance >= LEAST_CHANCE else None)
            for analysis, chance in zip(analyses, chances, strict=True)]  # fmt: skip
    sums: defaultdict[str | None, float] = defaultdict(float)
    for _, chance, query in likelihoods:
        sums[query] += chance

    def order(likelihood: tuple[Analysis, float, str | None]) -> tuple[bool, float, bool, float]:
        analysis, chance, query = likelihood
        return query is None, -sums[query], ranker.is_partial(analysis.features), -chance

    best, likeliest, _ = zip(*sorted(likelihoods, key=order), strict=True)
    return best, likeliest


def _plan(compiler: Compiler, meaning: Meaning) -> Plan | None:
    """The plan of a meaning; None where the model has no query for it."""
    try:
        return compiler.plan(meaning)
    except TypeMismatchError:
        return None


def understanding_of(code: str) -> Understanding:
    """What understands a language; read at its first question."""
    with _reading:
        return _understanding(code)


@lru_cache(maxsize=len(LANGUAGES))
def _understanding(code: str) -> Understanding:
    return Understanding(code)


def _own_language() -> str:
    """The language that the caller has chosen; empty of one that is no user."""
    return (language_of_account(current_caller().user_id) or "").partition("-")[0]


def language_of(question: str, before: Standing | None = None, page: str = "") -> str:
    """The language whose words the question has most of; of as many, that of the one before.

    It is that of the one before, or English, where the other one has not half of its words, or a
    quarter of those of which that has none; of as many without one before, that of the ``page`` on
    which it is asked, or of the caller.
    """
    words = [token.text for token in tokenise(question) if token.kind == "word"]
    is_small = bool(words) and words[0].islower()

    def count(lexicon: Lexicon) -> int:
        """Words that are known; what looks like a name is no compound: ``open deals Highland``."""
        return sum(
            (lexicon.form(word) in lexicon.known or not (is_small and word[0].isupper()))
            and lexicon.is_known(word)
            for word in words
        )

    known = {code: count(understanding_of(code).lexicon) for code in LANGUAGES}
    last = "" if before is None else before.language
    if last not in LANGUAGES and len({*known.values()}) == 1:
        last = page or _own_language()
    usual = last if last in LANGUAGES else LANGUAGES[0]
    least = len(words) / (2 if known[usual] else 4)
    fitting = [code for code in LANGUAGES if code == usual or known[code] >= least]
    return max(fitting, key=lambda code: (known[code], code == usual))

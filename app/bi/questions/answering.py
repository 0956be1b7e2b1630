"""What the grammar makes of a question: the plan of its likeliest meaning, and how sure that is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.bi.currencies import in_one_currency
from app.bi.periods.spans import Calendar, Period
from app.bi.plans.columns import Compiled
from app.bi.plans.compiling import compiled
from app.bi.plans.phrasing import offered, restated
from app.bi.plans.plan import Plan
from app.bi.questions import ranker
from app.bi.questions.algebra import COUNT, Equals, Figure, Has, Meaning
from app.bi.questions.beside import asked_of
from app.bi.questions.follow import belonging, of_itself, tells_one
from app.bi.questions.lexicon import LANGUAGES, nouns_in
from app.bi.questions.model import Model
from app.bi.questions.offering import candidates, nearby, report_of
from app.bi.questions.periods import Periods
from app.bi.questions.reading import THIS
from app.bi.questions.refusing import Refusal, passed_over, refused, unread
from app.bi.questions.stored import Standing, read, written
from app.bi.questions.understanding import (
    LEAST_CHANCE,
    Analysis,
    Understood,
    language_of,
    understanding_of,
)
from app.bi.words.speech import Speech, capital
from app.bi.words.tokens import Token, repaired
from app.errors import ForbiddenError

Placed = tuple[int, int, Period]
Named = tuple[int, int, str, str]
LEAST = 0.6  # confidence from which on a question is answered without asking back
_SUREST = 0.95
_UNSURE = 0.79  # at most that of what goes on (no session was learned from) or is not plain
_LEAST_STRANGE = 0.65  # the same where a word that nothing is known of is left aside
_MOST_READINGS = 3
_LEAST_POSSIBLE = 0.1  # of a reading that is asked about where saying nothing is likelier
_LEAST_TOLD = 0.05  # nor said to be why there is no answer
_NUMBER = Figure(COUNT)  # of one record it says nothing
_LEAST_ASKED = 0.2  # of a reading that asks for a property of the record that is looked at
_OF_WORDS = ("aside", "open", "unknown")  # reasons of how it was read, not of what was asked


@dataclass(frozen=True)
class Proposal:
    """The plans of the likeliest meanings, the likeliest first; none where nothing is understood.

    ``chance_of_right`` is the share of questions that were answered rightly where the choice was as
    clear as here, of questions that were not used to learn it.
    """

    plans: tuple[Plan, ...]
    chance_of_right: float
    understood: Understood
    refusal: Refusal | None = None
    query: Compiled | None = None  # that of the likeliest plan

    @property
    def likeliest(self) -> tuple[Plan, Compiled]:
        """What is answered: the likeliest plan and its query."""
        assert self.query is not None
        return self.plans[0], self.query

    @property
    def confidence(self) -> float:
        """How sure it is said to be: never over 0.95, for language is language."""
        return min(_SUREST, self.chance_of_right)

    @property
    def is_answered(self) -> bool:
        """Whether it may be answered without asking back."""
        return bool(self.plans) and self.confidence >= LEAST and self.refusal is None

    @property
    def reason(self) -> str:
        """Why it is not answered, as a sentence."""
        if self.refusal is not None:
            return self.refusal.sentence(self.understood.lexicon)
        if len(self.plans) > 1:
            return self.say("This can be meant in several ways. Which one?")
        if self.plans:
            return self.say("I am not sure what is asked for. Is it this?")
        return self.say("I cannot tell what is asked for.")

    @property
    def say(self) -> Speech:
        """The language of the question."""
        return self.understood.lexicon.say

    @property
    def questions(self) -> tuple[str, ...]:
        """What can be asked instead."""
        return () if self.refusal is None else self.refusal.questions

    @property
    def nearby(self) -> tuple[str, ...]:
        """What can be asked of what is recognised in the question."""
        return nearby(self.understood.read, self.understood.lexicon)

    @property
    def report(self) -> str:
        """The key of the built-in report that the question calls for; empty where it calls for
        none, or for what no question can do."""
        if self.refusal is not None and self.refusal.is_final:
            return ""
        return report_of(self.understood.read, self.understood.lexicon)

    @property
    def state(self) -> dict[str, Any]:
        """What the next question goes on from, as a session keeps it.

        That words were left aside is told once: with the answer, or else with the next one.
        """
        standing = self.understood.standing
        return written(replace(standing, left=()) if self.is_answered else standing)


def propose(
    question: str, now: Calendar, before: Standing | None = None, page_language: str = ""
) -> Proposal:
    """Understand a question under the rights of the caller.

    Args:
        before: what the questions before it in the same session mean; what names no kind of record
            by itself goes on from it.
        page_language: of the page on which it is asked; empty where it is on none.
    """
    code = language_of(question, before, page_language)
    understood = understand(question, now, before, code)
    best = understood.analyses[0]
    lacks, _, number = understood.lacks.partition(" ")
    refusal = Refusal(lacks, (number,)) if lacks else _refused(understood)
    if refusal is not None and refusal.reason in ("open", "subject"):
        readings = _readings(understood, refusal, now)
        is_offered = readings or best.plan is not None
        refusal = replace(refusal, questions=readings) if is_offered else None
    is_far = "nothing cross number" in best.features  # a number that is nothing: "in 9999"
    if is_far and refusal is not None and refusal.reason == "aside":
        refusal = None
    if best.plan is None and refusal is None:
        return Proposal(_possible(understood), 0.0, understood)
    if best.plan is None or (refusal is not None and not refusal.asks_back):
        return Proposal((), 0.0, understood, refusal)
    likely = [(analysis, chance) for analysis, chance in understood.likelihoods
              if analysis.plan and chance >= LEAST_CHANCE]  # fmt: skip
    chance = sum(chance for analysis, chance in likely if analysis.query == best.query)
    others = [analysis for analysis, _ in likely if analysis.query != best.query]
    confidence = ranker.fitted().confidence(ranker.signs(best.features, chance))
    try:
        noted = [_noted(analysis, understood) for analysis in (best, *others[:1])]
    except ForbiddenError:
        return Proposal((), 0.0, understood, Refusal("forbidden"))
    plans = tuple(plan for plan, _ in noted)
    if refusal is None and confidence < _LEAST_STRANGE:
        strange = passed_over(best, understood.read)
        if strange is not None:
            without = tuple(f"{restated(plan)}." for plan in plans)
            return Proposal((), 0.0, understood, Refusal("strange", strange.words, without))
    is_alone = before is None or before.meaning is None  # else it may be of those before
    is_plain = is_alone and ranker.is_plain(best.features) and not _takes_for_granted(plans[0])
    if understood.goes_on or not is_plain:
        confidence = min(confidence, _UNSURE)
    return Proposal(plans, confidence, understood, refusal, noted[0][1])


def _possible(understood: Understood) -> tuple[Plan, ...]:
    """The two likeliest readings of what rather says nothing, that use all its words."""
    if any(feature.startswith("nothing cross") for feature in understood.analyses[0].features):
        return ()
    possible = [analysis for analysis, chance in understood.likelihoods
                if analysis.plan is not None and chance >= _LEAST_POSSIBLE
                and not analysis.passed_over(understood.read, light=False)]  # fmt: skip
    try:
        return tuple(_noted(analysis, understood)[0] for analysis in possible[:2])
    except ForbiddenError:
        return ()


def _takes_for_granted(plan: Plan) -> bool:
    """Whether it assumes something, or its period can be another one: whose year is not said, that
    begins so many days ago."""
    period = plan.period
    is_open = period is not None and (not period.has_year or bool(period.rolling) or period.weekday)
    return bool(plan.assumptions or plan.repaired) or is_open


def propose_after(state: object, question: str, now: Calendar, page_language: str = "") -> Proposal:
    """``propose``, after what a session keeps."""
    return propose(question, now, read(state), page_language)


def plan_of_state(state: object, now: Calendar) -> Plan | None:
    """The plan of what a session keeps; None where nothing was understood."""
    return plan_before(read(state), now)


def plan_before(standing: Standing, now: Calendar) -> Plan | None:
    """The plan of what was asked before; None where nothing was understood."""
    if standing.meaning is None:
        return None
    return understanding_of(standing.language).plan_of(standing.meaning, now)


def known_nouns(code: str) -> dict[str, str]:
    """What records are called in a language -> their type; nothing is loaded but its file."""
    return nouns_in(code)


def periods_among(tokens: Sequence[Token], code: str, now: Calendar) -> list[Placed]:
    """The periods that words of a language name: from which token to which, and the days."""
    lexicon = understanding_of(code if code in LANGUAGES else LANGUAGES[0]).lexicon
    periods = Periods(lexicon.reader, now, lexicon.english)
    stemmed = [replace(token, stem=lexicon.stem(token.text)) for token in tokens]
    spoken = ((each, periods.resolve(each.when)) for each in periods.find(stemmed))
    return [(each.start, each.end, period) for each, period in spoken if period is not None]


def named_in(tokens: Sequence[Token], code: str, entity: str) -> Iterator[Named]:
    """The properties of a type that words name, and the values that enumerations have.

    Returns: where the words are written and what follows, the property, its value or nothing.
    """
    lexicon = understanding_of(code if code in LANGUAGES else LANGUAGES[0]).lexicon
    types = lexicon.model.kinds.items()
    keys = [key for key, kind in types if entity == kind.type.name or key == f"{entity}s"]
    parts = list(repaired(tokens, lexicon.known, lexicon.stem))
    stems = [lexicon.form(part.text if part.repaired_from is None else part.stem) for part in parts]
    starts = [*(part.start for part in parts), parts[-1].start + 1 if parts else 0]
    for at in range(len(parts)):
        for length, entry in lexicon.at(stems, at):
            for key in keys if entry.category in ("property", "state") else ():
                meaning = entry.value.by_kind.get(key)
                if entry.category == "property" and meaning is not None:
                    yield starts[at], starts[at + length], str(meaning), ""
                elif (
                    meaning is not None
                    and (state := lexicon.model.kinds[key].states[meaning.state]).path
                ):
                    path = state.path.rpartition("/")[2]
                    yield starts[at], starts[at + length], path, state.value.strip("'")


def standing_of_record(kind: str, key: int, title: str, code: str) -> dict[str, Any]:
    """What a session keeps of the record that is looked at; nothing of a kind that there is not."""
    known = kind in understanding_of(LANGUAGES[0]).lexicon.model.kinds
    meaning = Meaning(kind, where=(Equals("id", (str(key),), title),)) if known else None
    return written(Standing(meaning, language=code, beside=known))


def _readings(understood: Understood, refusal: Refusal, now: Calendar) -> tuple[str, ...]:
    """A question that says nothing of what it is about, asked of some topics."""
    language, weights = understood.understanding, ranker.fitted().weights
    lexicon, read = language.lexicon, understood.read
    reasons = lexicon.data["refusing"]
    topics = reasons["topics"]
    if read.is_ranked:
        topics = [*(reasons["figures"] if read.has_groups else reasons["ranked"]), *topics]
    if refusal.reason == "subject":
        meanings = (analysis.meaning for analysis in understood.analyses)
        kinds = dict.fromkeys(meaning.kind for meaning in meanings if meaning is not None)
        topics = [lexicon.say.named(lexicon.model.kinds[key].many) for key in kinds]
    readings: list[str] = []
    for topic in topics:
        for text in candidates(read, topic, lexicon):
            own = language.understand(text, now, weights)
            best = own.analyses[0]
            whole = best.plan is not None and not best.passed_over(own.read, light=False)
            if best.plan is None or not whole or refused(best, own.read, lexicon) is not None:
                continue
            # Its words beside a noun are seldom a sentence: it is said by what it means.
            offer = text if text == f"{capital(topic)}?" else offered(best.plan)
            again = own if offer == text else language.understand(offer, now, weights)
            if offer not in readings and best.query == again.analyses[0].query and _is_sure(again):
                readings.append(offer)
                break
        if len(readings) == _MOST_READINGS:
            break
    return tuple(readings)


def _is_sure(understood: Understood) -> bool:
    """Whether it is answered without asking back."""
    best, chance = understood.analyses[0], understood.chances[0]
    confidence = ranker.fitted().confidence(ranker.signs(best.features, chance))
    return confidence >= (LEAST if passed_over(best, understood.read) is None else _LEAST_STRANGE)


def _refused(understood: Understood) -> Refusal | None:
    """Why there is no answer: of the likeliest meaning, or else of the one that comes next."""
    lexicon = understood.lexicon
    meant = [analysis for analysis, chance in understood.likelihoods
             if analysis.plan is not None and chance >= _LEAST_TOLD]  # fmt: skip
    refusal = refused((meant or understood.analyses)[0], understood.read, lexicon)
    if understood.goes_on and refusal is not None and refusal.reason in ("open", "subject"):
        refusal = None  # it is about what was asked before
    if refusal is not None and refusal.reason in ("aside", "subject"):
        return passed_over(meant[0], understood.read) or refusal
    if refusal is None and understood.analyses[0].plan is None:
        return unread(understood.read, lexicon) or _refused_if_read(understood)
    return refusal


def _refused_if_read(understood: Understood) -> Refusal | None:
    """Why there would be no answer either if the likeliest meaning were the one that is meant."""
    meant = next((analysis for analysis in understood.analyses if analysis.plan is not None), None)
    refusal = None if meant is None else refused(meant, understood.read, understood.lexicon)
    is_told = refusal is not None and not refusal.asks_back and refusal.reason not in _OF_WORDS
    return refusal if is_told else None


def _noted(analysis: Analysis, understood: Understood) -> tuple[Plan, Compiled]:
    """The plan of an analysis, which names the words that it left aside, and its query."""
    assert analysis.plan is not None and analysis.compiled is not None
    read = understood.read
    plan = replace(analysis.plan, repaired=read.repaired)
    for word in (*understood.left, *read.words_at(analysis.aside)):
        plan = plan.with_assumption("“{word}” is left aside", word=word)
    whole = in_one_currency(plan)
    return whole, analysis.compiled if whole is plan else compiled(whole)


def understand(question: str, now: Calendar, before: Standing | None, code: str) -> Understood:
    """The meanings of a question, by itself or as it goes on from those before it."""
    understood = _understood(question, now, before, code)
    standing = _standing(understood, question, before)
    record = before.meaning if before is not None and before.beside else None
    paths = None if record is None else _asked_paths(understood, record)
    return replace(understood, standing=standing, asked_paths=paths)


def _asked_paths(understood: Understood, record: Meaning) -> tuple[str, ...] | None:
    """The properties of the record that is looked at by the likeliest meaning that asks for some.

    Where the likeliest of all is about the record, one that only names it or asks whether it is so
    comes behind.
    """
    model = understood.lexicon.model
    best = understood.analyses[0]
    usual = _paths_asked_by(best, record, model)
    if best.meaning is None or (best.meaning.kind != record.kind and usual is None):
        return None
    is_who = any(leaf.category == "f:who" for leaf in understood.read.leaves)
    least = LEAST_CHANCE if is_who else _LEAST_ASKED  # that something is so says not who
    is_open = is_who or not usual
    likely = [(analysis, chance) for analysis, chance in understood.likelihoods
              if chance >= least and (is_open or analysis.query == best.query)]  # fmt: skip
    likely.sort(key=lambda each: (each[0].names_nothing, -each[1]))
    paths = (_paths_asked_by(analysis, record, model) for analysis, _ in likely)
    return next(filter(None, paths), usual)


def _paths_asked_by(analysis: Analysis, record: Meaning, model: Model) -> tuple[str, ...] | None:
    if analysis.meaning is None or analysis.plan is None:
        return None
    return asked_of(record, analysis.meaning, analysis.plan.asked_columns, model)


def _understood(question: str, now: Calendar, before: Standing | None, code: str) -> Understood:
    language, weights = understanding_of(code), ranker.fitted().weights
    meant = None if before is None else before.meaning
    looked_at = before is not None and before.beside
    alone = language.understand(question, now, weights, meant, beside=looked_at)
    best = alone.analyses[0]
    is_whole = best.meaning is not None and f"kind unnamed {best.meaning.kind}" not in best.features
    if before is None:
        return alone
    if before.beside:
        is_of_it = THIS in best.features and not language.looks(question)
        return alone if is_of_it else _beside(question, now, before, alone)
    if THIS in best.features:
        return alone
    goes_on = language.goes_on(alone.read)
    previous = before.meaning
    if previous is None or plan_before(before, now) is None:
        return replace(alone, lacks="before" if goes_on and not is_whole else "")
    followed = replace(language.follow(previous, question, now, weights), left=before.left)
    first = followed.analyses[0]
    if first.plan is None:
        is_few = previous.ranking is not None and previous.ranking.limit and not previous.groups
        refers = language.refers(alone.read.stems)
        lacks = f"few {previous.ranking.limit}" if goes_on and is_few and previous.ranking else ""
        return replace(alone, goes_on=refers, lacks=lacks)
    kind = language.lexicon.model.kinds[previous.kind]
    is_of_record = tells_one(previous, kind) and _is_fragment(alone, previous)
    is_bare = _is_bare(best.meaning) or is_of_record
    if goes_on or not is_whole or is_bare or _is_of_one(best, previous):
        # By itself, a question passes over whom its pronoun stands for.
        alone_over = best.passed_over(alone.read, light=False) + language.refers(alone.read.stems)
        if not goes_on and not is_whole and _is_of_either(best, first, previous):
            return replace(followed, analyses=(first, best), chances=(0.5, 0.5), lacks="either")
        is_less = first.passed_over(followed.read, light=False) <= alone_over
        return followed if is_less or best.meaning is None else alone
    fewer = first.passed_over(followed.read) < best.passed_over(alone.read)
    return followed if fewer else alone


def _standing(understood: Understood, question: str, before: Standing | None) -> Standing:
    """What is gone on from: what was readable of the last question that asked for something.

    With the words that were left aside there; ``is it paid`` only looks how the records are.
    """
    if before is not None and understood.understanding.looks(question):
        return replace(before, language=understood.language)
    kinds = understood.lexicon.model.kinds
    for best in understood.analyses:
        if best.meaning is not None:
            left = (*understood.left, *understood.read.words_at(best.aside))
            meaning = of_itself(best.meaning, kinds[best.meaning.kind])
            is_beside = before is not None and before.beside and meaning == before.meaning
            return Standing(meaning, left, understood.language, is_beside)
    return Standing(language=understood.language)


def _is_of_either(alone: Analysis, followed: Analysis, previous: Meaning) -> bool:
    """Whether a figure that is named can be of the records before as well as of all."""
    first, second = alone.meaning, followed.meaning
    if first is None or second is None or first.kind != previous.kind or first == second:
        return False
    is_part = bool(previous.figures and (previous.dated or previous.where))
    is_part &= second.groups != previous.groups or not previous.groups  # "which source": of these
    named = (figure.measure for figure in first.figures if figure not in previous.figures)
    return is_part and any(figure != COUNT for figure in named)


def _is_of_one(alone: Analysis, previous: Meaning) -> bool:
    """Whether it tells one record of the kind before, and not which: ``client created in May``."""
    meaning = alone.meaning
    if meaning is None or meaning.figures or meaning.ranking or meaning.distinct:
        return False
    return "singular" in alone.draft.flags and meaning.kind == previous.kind


def _beside(question: str, now: Calendar, before: Standing, alone: Understood) -> Understood:
    """What a question means beside a record, where no word stands for that."""
    language, meant = alone.understanding, before.meaning
    best, is_one = alone.analyses[0].meaning, "singular" in alone.analyses[0].draft.flags
    is_of_all = alone.is_of_all or (best is not None and best.groups and not is_one)
    if meant is None or (is_of_all and best is not None):
        return alone
    followed = language.follow(meant, question, now, ranker.fitted().weights)
    first = followed.analyses[0]
    is_less = first.passed_over(followed.read, light=False) <= alone.analyses[0].passed_over(
        alone.read, light=False
    )
    meaning = first.meaning
    is_other = meaning is not None and meaning.kind != meant.kind and meaning.where == meant.where
    if first.plan is None or is_other or not (is_less or best is None):
        return alone
    counts = meaning is not None and meaning.figures == (_NUMBER,) and not meaning.groups
    is_number = counts and meaning is not None and meaning.kind == meant.kind
    whole = _of_its_own(alone, meant, now) if is_number else None
    return whole or _by_its_records(followed, meant)


def _of_its_own(alone: Understood, record: Meaning, now: Calendar) -> Understood | None:
    """A figure of records of another kind as that of those which belong to the one looked at."""
    language, best = alone.understanding, alone.analyses[0]
    if best.meaning is None or best.meaning.kind == record.kind:
        return None
    kinds = language.lexicon.model.kinds
    parts = tuple(belonging(record, kinds[record.kind], kinds[best.meaning.kind]))
    meaning = replace(best.meaning, where=(*best.meaning.where, *parts))
    plan = language.plan_of(meaning, now) if parts else None
    if plan is None:
        return None
    of_it = replace(best, meaning=meaning, plan=plan)
    return replace(alone, analyses=(of_it,), chances=alone.chances[:1], goes_on=True)


def _by_its_records(followed: Understood, record: Meaning) -> Understood:
    """Of a record that has others those are told, and not that it has some."""
    meaning = followed.analyses[0].meaning
    having = [part.kind for part in (meaning.where if meaning is not None else ())
              if isinstance(part, Has)]  # fmt: skip
    if meaning is None or meaning.kind != record.kind or not having:
        return followed

    def is_other(likelihood: tuple[Analysis, float]) -> bool:
        meaning = likelihood[0].meaning
        return meaning is None or meaning.kind not in having

    analyses, chances = zip(*sorted(followed.likelihoods, key=is_other), strict=True)
    return replace(followed, analyses=analyses, chances=chances)


def _is_fragment(alone: Understood, previous: Meaning) -> bool:
    """Whether it only names records of another kind, and no record: ``open tickets?``"""
    meaning = alone.analyses[0].meaning
    lexicon, read = alone.lexicon, alone.read
    some = lexicon.phrases("language", "some")
    leaves = (leaf for leaf in read.leaves
              if leaf.category != "value" or not leaf.meaning.key.startswith("text:"))  # fmt: skip
    categories = {leaf.category for leaf in leaves if read.stems[leaf.start : leaf.end] not in some}
    is_other = meaning is not None and meaning.kind != previous.kind
    return is_other and not categories & {"value", "f:list", "f:count", "f:much", "f:who"}


def _is_bare(meaning: Meaning | None) -> bool:
    """Whether it asks for all records of a kind: ``which invoices``."""
    return meaning is not None and meaning == Meaning(meaning.kind)

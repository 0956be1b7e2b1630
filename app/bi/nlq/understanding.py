"""A question, and those before it, understood: a plan, a choice of plans, or a refusal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date
from functools import lru_cache
from itertools import pairwise
from threading import RLock

from app.bi.nlq.about import without_topics
from app.bi.nlq.accounting import unaccounted
from app.bi.nlq.alone import is_headed, other_words
from app.bi.nlq.asides import stripped, without_reasons
from app.bi.nlq.candidates import (
    Candidate,
    asks_who,
    is_before,
    is_inferred,
    may_be_of_groups,
    not_understood,
    of_only_kind,
    of_records,
    tells_kind,
)
from app.bi.nlq.checking import UnclearError, check_period_of_amount, has_needs
from app.bi.nlq.deciding import asking_which
from app.bi.nlq.following import Following
from app.bi.nlq.language import read_file
from app.bi.nlq.naming import AmbiguousName
from app.bi.nlq.parts import two_of
from app.bi.nlq.period_places import PeriodPlaces
from app.bi.nlq.reading import Reading
from app.bi.nlq.refusing import is_code, reason_of, said_in
from app.bi.nlq.resolving import resolved
from app.bi.nlq.restating import is_limit_alone, restated
from app.bi.nlq.sharing import is_of_person
from app.bi.nlq.slots import Slot, scan
from app.bi.nlq.tenses import check_to_come, of_making, took_how_long
from app.bi.nlq.understood import Understood
from app.bi.nlq.unmarked import Unmarked
from app.bi.nlq.values import Names
from app.bi.nlq.vocabulary import Entity, Vocabulary
from app.bi.nlq.within import ranks_records
from app.bi.periods.spans import Calendar
from app.bi.plans.plan import Plan
from app.bi.words.tokens import Token, repaired, repairs, tokenise
from app.container.model import container

# Between these words and what is done, an "I" is whoever it is about.
_DOING = ("do", "did", "have", "am", "that", "which", "who")
# Of threads whose first questions come together one reads: what each had made would stay as holes.
_reading = RLock()
NO_KIND = "of what kind of record"
# Entities that answer a question equally well are a choice when nothing tells them apart.
CLOSE = 1
# A reading of other records that is hardly worse leaves the answer unsure.
RIVAL = 4
# What is torn between two readings that it names says more than why others are none.
_TOLD = 9


def vocabulary_of(language: str = "en") -> Vocabulary:
    """The vocabulary of a language over the model of the business."""
    with _reading:
        return _vocabulary(language)


@lru_cache(maxsize=4)
def _vocabulary(language: str) -> Vocabulary:
    # Without a default: a language that is left out would be another key, and be made once more.
    return Vocabulary(read_file(language), container())


def understand(
    question: str, before: Sequence[str], now: Calendar, caller_id: int, language: str = "en"
) -> Understood:
    """What a question means after those asked before it in the same session.

    Raises: AmbiguousName.
    """
    return _Understanding(vocabulary_of(language), now, caller_id).of(question, before)


def is_refused(question: str, language: str = "en") -> bool:
    """Whether a question asks for something that no question can do."""
    reader = _Understanding(vocabulary_of(language), Calendar(date.min), 0)
    return reader.refusal(question) is not None


class _Understanding(Following):
    def __init__(self, vocabulary: Vocabulary, now: Calendar, caller_id: int) -> None:
        self._vocabulary = vocabulary
        self._now = now
        self._caller_id = caller_id
        self._names = Names(vocabulary)
        self._periods = PeriodPlaces(vocabulary.periods, now)
        self._unmarked = Unmarked(vocabulary)
        self._earlier = {}
        # Questions and parts of them: as they are rewritten, and the words of what is rewritten.
        self._plain: dict[str, str] = {}
        self._words: dict[str, list[Token]] = {}

    def of(self, question: str, before: Sequence[str]) -> Understood:
        question = self._vocabulary.typed.plain(question)
        if before and (other := self._restated(question, before)) is not None:
            found = self.of(other, before[:-1])
            return found if found.plans or found.choices else self._of(question, before)
        return self._of(question, before)

    def _restated(self, question: str, before: Sequence[str]) -> str | None:
        """The last question, which may itself have gone on, with the limit that this one names."""
        tokens = self._repaired(self._rewritten(question))
        if not is_limit_alone(tokens, self._vocabulary):
            return None  # those before it need not be read
        plain = self._vocabulary.typed.plain(before[-1])
        earlier = self._restated(plain, before[:-1]) if len(before) > 1 else None
        before_it = self._repaired(self._rewritten(earlier or plain))
        return restated(tokens, before_it, self._vocabulary)

    def _of(self, question: str, before: Sequence[str]) -> Understood:
        stems = tuple(token.stem for token in self._repaired(self._rewritten(question)))
        if (beyond := said_in(stems, self._vocabulary.beyond)) is not None:
            return Understood(unknown=(beyond,))
        told = self._how_to(question)
        if not told and (reason := self.refusal(question)) is not None:
            return Understood(refused=True, reason=reason)
        found = self._said(question, (), before)
        if found.plans or found.choices or found.settled:
            return asking_which(found, question)
        other = without_reasons(question, self._vocabulary)
        again = self._said(other.text, other.left_aside, before) if other.left_aside else found
        again = again if again.plans or again.choices else self._lighter(other.text, before)
        if again.plans or again.choices:
            return again
        plain = stripped(question, self._vocabulary).text
        text = self._rewritten(plain)
        vague = self._vague(self._repaired(text)) or self._not_said(text)
        if vague is None and not before:
            tokens = self._repaired(text)
            vague = self._of_one_kind(tokens) or self._of_groups_alone(tokens)
        return replace(vague or self._unranked(plain, found) or found, near=told)

    def _said(self, text: str, aside: Sequence[str], before: Sequence[str]) -> Understood:
        """A question without the talk around it; less sure of what was left aside."""
        plain = stripped(text, self._vocabulary)
        found, aside = self._of_text(plain.text, before), (*aside, *plain.left_aside)
        if not aside:
            return found
        note = f"“{'; '.join(aside)}” is left aside"
        plans = tuple(replace(one.with_assumption(note), unsure=one.unsure + 1)
                      for one in found.plans)  # fmt: skip
        return replace(found, plans=plans)

    def _lighter(self, question: str, before: Sequence[str]) -> Understood:
        """A question without the words that restrict nothing, which the answer says."""
        lighter = self._vocabulary.typed.lighter(question)
        if lighter is None or not lighter.text:
            return Understood()
        found = self._said(lighter.text, (), before)
        note = f"“{', '.join(lighter.left_aside)}” is left aside"
        plans = tuple(replace(one.with_assumption(note), unsure=one.unsure + lighter.unsure)
                      for one in found.plans)  # fmt: skip
        return replace(found, plans=plans)

    def _of_text(self, question: str, before: Sequence[str]) -> Understood:
        if before and (asked := self._asked_before(question, before)):
            return asked
        if tail := self._tailed(question, before, is_plain=True):
            return self._by_itself(tail, before[-1]) if before else tail
        found = self._of_tokens(question, before)
        told = len(found.plans) == 1 and not is_inferred(found.plans[0])
        if told or found.settled or (found.choices and not found.is_two):
            return found
        return self._tailed(question, before) or found

    def _of_tokens(self, question: str, before: Sequence[str]) -> Understood:
        text = self._rewritten(question)
        tokens = self._repaired(text)
        if several := self._ambiguous(text) or (None if before else self._of_no_kind(tokens)):
            return several
        points_back = self._points_back(tokens)
        follows = bool(before) and (points_back or self._follows(tokens))
        if (
            follows
            and self._is_of_theirs(question, tokens)
            and (named := self._with_names(question, before))
        ):
            return named
        if follows and (found := self._continued(tokens, before)):
            return found
        if points_back and two_of(tokens, self._vocabulary) is None:
            return Understood(reason="of which records: nothing was asked before that has them")
        if before and (named := self._with_names(question, before)):
            return named
        if before and not follows and (either := self._either(question, tokens, before)):
            return either
        found = self._whole(tokens)
        if before and not follows and any(is_inferred(one) for one in found.plans):
            found = self._continued(tokens, before) or found
        elif found.plans and before and self._seems_to_follow(question, tokens):
            return self._by_itself(found, before[-1])
        if found.plans or found.choices or not before or follows:
            return found
        return self._continued(tokens, before) or found

    def _how_to(self, question: str) -> str | None:
        """The articles about it, where it is asked how something is done."""
        topics = () if is_code(question) else self._vocabulary.typed.topics_of_how_to(question)
        return next(filter(self._is_plain, map("Articles about {}".format, topics)), None)

    def refusal(self, question: str) -> str | None:
        """Why a question is not even read; None where it is."""
        if is_code(question):
            return "only questions about figures are answered here"
        tokens = without_topics(self._repaired(self._rewritten(question)), self._vocabulary)
        refused = said_in(tuple(token.stem for token in tokens), self._vocabulary.refused)
        if refused is None or self._is_said_of_records(tokens, refused):
            return None
        return reason_of(refused, self._vocabulary)

    def _is_said_of_records(self, tokens: Sequence[Token], refused: str) -> bool:
        """``deals with next step send the revised offer``: what records say is no request."""
        words = refused.split()
        stems = [token.stem for token in tokens]
        at = next(one for one in range(len(stems)) if stems[one : one + len(words)] == words)
        of = (one for one in self._vocabulary.entities.values() if set(stems[:at]) & set(one.nouns))
        found = (self._names.find(tokens, at, one) for one in of)
        return any(one is not None and one.length > len(words) for one in found)

    def _repaired(self, text: str) -> list[Token]:
        """The words of a text: names as one word each, slips mended."""
        if text not in self._words:
            self._words[text] = self._mended(self._unmarked.marked(tokenise(text)))
        return list(self._words[text])

    def _mended(self, tokens: Sequence[Token]) -> list[Token]:
        return list(repaired(tokens, self._vocabulary.known, self._vocabulary.verbs))

    def _rewritten(self, question: str) -> str:
        """The question with idioms said plainly; names keep their capitals."""
        if question not in self._plain:
            text = self._vocabulary.typed.plain(question.strip())
            for pattern, plain in self._vocabulary.idioms:
                text = pattern.sub(plain, text, count=2)
            self._plain[question] = text
        return self._plain[question]

    # --- a question by itself

    def _fresh(self, tokens: list[Token]) -> Understood:
        likely = self._entities(tokens)
        others = [one for one in self._vocabulary.entities.values() if one not in likely]
        unclear: AmbiguousName | None = None
        candidates: list[Candidate] = []
        for entity in [*likely, *others]:
            if entity in others and any(one.is_whole for one in candidates):
                break  # only "the phone of ACME" names no kind of record
            try:
                candidates.append(self._candidate(entity, tokens))
            except AmbiguousName as error:
                unclear = unclear or error
        candidates = [one for one in candidates if one.score > -2]
        whole = of_records([one for one in candidates if one.is_whole])
        if not whole:
            if unclear is not None:
                raise unclear
            return of_only_kind(candidates) or not_understood(candidates, tokens)
        whole.sort(key=lambda one: -one.score)
        best = whole[0]
        torn = next((one for one in candidates if one.choices and not one.unknown), None)
        if torn is not None and torn.score >= best.score:
            return Understood(reason=torn.unclear, choices=torn.choices)
        close = [one for one in whole if best.score - one.score <= CLOSE]
        heads = [one for one in close if one.reading.noun_at is not None]
        if len(heads) == 1 and all(is_before(heads[0], one) for one in close):
            close = heads
        rivals = [one for one in whole if one not in close and best.score - one.score <= RIVAL]
        plans = [one.plan for one in close if one.plan]
        return Understood(
            plans=tuple(replace(one, unsure=one.unsure + bool(rivals)) for one in plans)
        )

    def _entities(self, tokens: Sequence[Token]) -> list[Entity]:
        """The entities that a word of the question belongs to."""
        stems = {token.stem for token in tokens}
        telling = ("noun", "subset", "measure", "rate", "state", "order", "amount")
        found = [
            entity
            for entity in self._vocabulary.entities.values()
            if entity.tells(stems, telling) or (entity.key == "Invoices" and "much" in stems)
        ]
        return found

    def _candidate(self, entity: Entity, tokens: list[Token]) -> Candidate:
        described, owned, doubts = self._of_clients(entity, tokens)
        try:
            main, related, unknown = self._related(entity, described)
        except UnclearError as error:
            none = Reading(entity, self._now, self._caller_id).read(())
            return Candidate(None, none, (), str(error), _TOLD, error.choices)
        slots = scan(main, entity, self._vocabulary, self._names, self._periods)
        reading = Reading(entity, self._now, self._caller_id).read(slots)
        unknown += (*reading.left, *other_words(tokens, entity, self._vocabulary))
        score = reading.score + self._prior(reading, slots, tokens) + (3 if related else 0)
        more = (*related, *owned)
        try:
            headed = (
                related or is_headed(reading, tokens, self._vocabulary) or took_how_long(reading)
            )
            told = headed or (not unknown and tells_kind(reading))
            if not told or not has_needs(reading):
                raise UnclearError(NO_KIND)
            check_period_of_amount(reading)
            plan = None
            if not unknown:
                plan = resolved(reading, more)
                plan = self._weighed(reading, plan, lambda other: resolved(other, more))
            if not headed:
                plan = None if tokens[0].stem == "who" else plan
                return Candidate(None, reading, unknown, NO_KIND, score, inferred=plan)
        except UnclearError as error:
            return Candidate(None, reading, unknown, str(error), score, error.choices)
        if plan is not None:
            if asks_who(tokens, plan):
                return Candidate(None, reading, (tokens[0].text,), None, score)
            asked = "yes" if tokens and tokens[0].stem in self._vocabulary.yes_no else ""
            # Who "they" are was said before, and may be others than all.
            they = any(token.stem in self._vocabulary.pronouns for token in tokens)
            whose = any(token.stem in self._vocabulary.possessives for token in tokens)
            they = they or (whose and not is_of_person(plan)) or self._is_left_out(tokens, plan)
            doubts += they + may_be_of_groups(plan, slots, self._vocabulary)
            plan = replace(plan, repaired=repairs(tokens), zone=self._now.zone, asked=asked,
                           today=self._now.today, unsure=plan.unsure + doubts)  # fmt: skip
        return Candidate(plan, reading, unknown, None, score)

    def _is_left_out(self, tokens: Sequence[Token], plan: Plan) -> bool:
        """``customers that I know``: whoever asks does something, and the plan does not say so."""
        before = [first.stem for first, one in pairwise(tokens) if one.stem == "i"]
        known = self._vocabulary.is_of_records
        done = any(one in _DOING or known(one, {"noun"}) for one in before)
        return done and not any(one.words == "yours" for one in plan.conditions)

    def _plan_of(self, entity: Entity, tokens: list[Token]) -> Plan | None:
        try:
            return self._candidate(entity, tokens).plan
        except AmbiguousName:
            return None

    def _weighed(self, reading: Reading, plan: Plan, plan_of: Callable[[Reading], Plan]) -> Plan:
        """The plan of a reading, less sure for each word that shows nowhere in it.

        Args:
            plan_of: the plan that another reading would have led to.
        Raises: UnclearError.
        """

        def again(slots: Sequence[Slot]) -> Plan | None:
            try:
                other = Reading(reading.entity, self._now, self._caller_id).read(slots)
                return None if other.left else plan_of(other)
            except (UnclearError, AmbiguousName):
                return None

        check_to_come(plan, reading)
        unsure = plan.unsure + unaccounted(reading, plan, again)
        return of_making(replace(plan, unsure=unsure))

    def _prior(self, reading: Reading, slots: Sequence[Slot], tokens: Sequence[Token]) -> int:
        """How well the entity fits the head of the question."""
        first = next((slot for slot in slots if "noun" in slot or "subset" in slot), None)
        is_head = first is not None and first.meanings.get("noun") == reading.entity.key
        is_head = is_head or (first is not None and "subset" in first)
        score = 4 if is_head else 0
        has_amount = bool({"amount", "how_much"} & reading.flags) and reading.entity.default_measure
        if reading.noun_at is None and not (reading.measure or reading.rate or has_amount):
            score -= 2
        if first is None or "dimension" in first:
            score += int(reading.entity.data.get("prior", 0))
        own = reading.measure is not None and reading.measure.value == reading.entity.amount
        if (
            (reading.order or own)
            and reading.entity.key == "Clients"
            and (reading.periods or ranks_records(reading))
            and not reading.date
        ):
            score -= 6  # it is about what was sold, not about when the client was added
        if reading.subjects and not reading.rank:
            score -= 1
        return score

"""Records named first, and what is asked of them behind: ``biggest deal ever - who closed it``."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from app.bi.nlq.adding import (
    as_list,
    beside,
    figured,
    person_of,
    with_column,
    with_date,
    with_difference,
    with_named,
    with_number,
)
from app.bi.nlq.checking import UnclearError
from app.bi.nlq.follow_words import Asked
from app.bi.nlq.parts import texts_of
from app.bi.nlq.slots import LONGEST_PHRASE, positions
from app.bi.nlq.understood import Understood
from app.bi.nlq.vague import Vague
from app.bi.plans.plan import Plan
from app.bi.words.tokens import Token, tokenise

# With what a clause begins that asks for figures of what stands before it.
_FIGURES = {"count", "how_much", "sum", "amount", "average", "by", "share"}
_SKIPPED = {"stop", "list", "and_then", "or", "shows", "with", "listed"}
_MOST_CLAUSES = 8
# Behind these stands what some of the records have.
_HAVING, _ANY = ("with", "have", "has", "had", "having"), ("a", "an", "any", "some")
# What is asked of records and can hardly be meant otherwise.
_PLAIN = ("person", "client", "when", "difference")


class Tails(Vague):
    """The part of understanding that is about clauses that ask something of those before them."""

    @abstractmethod
    def _of_text(self, question: str, before: Sequence[str]) -> Understood:
        """What a text means."""

    def _tailed(
        self, question: str, before: Sequence[str], *, is_plain: bool = False
    ) -> Understood | None:
        """A question whose end asks something of the records that its beginning names.

        Args:
            is_plain: only what can hardly be meant otherwise.
        """
        follow = self._vocabulary.wordings.follow
        splits = list(follow.splits(question))
        for head, tail, is_marked in splits if len(splits) <= _MOST_CLAUSES else ():
            if is_plain:
                asked = follow.asked(tail)
                if asked is None or asked.kind not in _PLAIN:
                    continue
                if found := self._asked_behind(head, tail, before):
                    return found
                continue
            if found := self._asked_behind(head, tail, before):
                return found
            if is_marked and (found := self._turned(head, tail, before)):
                return found
        return None

    def _asked_behind(self, head: str, tail: str, before: Sequence[str]) -> Understood | None:
        asked = self._vocabulary.wordings.follow.asked(tail)
        tokens = self._repaired(self._rewritten(tail))
        if not tokens or not (asked or self._is_figure(tokens) or self._is_column(tokens)):
            return None
        plans = self._of_text(head, before).plans
        if len(plans) != 1:
            return None
        try:
            made = self._behind(plans[0], tail) if asked is None else (
                self._with_asked(plans[0], asked, is_tail=True)
            )  # fmt: skip
        except UnclearError:
            return None
        return None if made is None else Understood((made,))

    def _turned(self, head: str, tail: str, before: Sequence[str]) -> Understood | None:
        """``consulting in Q1: units and revenue``: what is asked for stands behind."""
        tokens = self._repaired(self._rewritten(tail))
        if not self._is_figure(tokens) or len(tail) > len(head) + 60:
            return None
        whole = self._repaired(self._rewritten(f"{tail} of {head}"))
        found = self._whole(whole)
        return found if len(found.plans) == 1 else None

    # --- what a clause may be

    def _is_figure(self, tokens: Sequence[Token]) -> bool:
        """Whether a clause begins with a figure, or with what groups are made by."""
        found = positions(tokens, self._vocabulary)[:1]
        begins = bool(found) and found[0][0] == 0 and bool(_FIGURES & set(found[0][2]))
        words = [tuple(one.stem for one in tokens[:length])
                 for length in range(1, min(LONGEST_PHRASE, len(tokens)) + 1)]  # fmt: skip
        return begins or any(
            self._vocabulary.is_measure(one) or one in self._vocabulary.figures for one in words
        )

    def _is_column(self, tokens: Sequence[Token]) -> bool:
        """Whether every word may be a property, or stands between them."""
        return any(
            self._vocabulary.is_of_records(one.stem, {"property", "dimension", "date"})
            for one in tokens
        )

    def _behind(self, plan: Plan, tail: str) -> Plan | None:
        """The plan with the figures or columns that a clause behind it asks for."""
        made = self._with_figures(plan, tail)
        if made is None and plan.kind == "list":
            found = self._with_columns(plan, self._repaired(self._rewritten(tail)))
            made = found.plans[0] if found is not None and found.plans else None
        return made

    def _with_figures(self, plan: Plan, tail: str) -> Plan | None:
        """``net and gross``, ``value per stage``: each of them a figure of the same records."""
        if plan.ranked is not None or plan.limit is not None:
            return None
        made: Plan | None = None
        for text in self._vocabulary.wordings.follow.linked(tail):
            tokens = self._repaired(self._rewritten(text))
            if not self._is_figure(tokens):
                return None
            found = self._changed(plan, tokens)
            if found is None or len(found.plans) != 1 or found.plans[0].kind == "list":
                return None
            made = found.plans[0] if made is None else beside(made, found.plans[0])
            if made is None or not texts_of(made) >= texts_of(plan):
                return None  # of open deals, not of all
        if made is None or figured(made) == figured(plan):
            return None  # nothing is asked for that is not there
        general = plan.measure is not None and plan.measure.default and made.figures
        if plan.kind not in ("count", "measure") or general:
            return made
        return beside(plan, made)

    def _with_columns(self, plan: Plan, tokens: Sequence[Token]) -> Understood | None:
        """``phone numbers please``: columns of the records; None where other words are in it."""
        if _chooses(tokens):
            return None
        paths: list[str] = []
        at = 0
        while at < len(tokens):
            for length in range(min(LONGEST_PHRASE, len(tokens) - at), 0, -1):
                words = tuple(one.stem for one in tokens[at : at + length])
                if path := self._column_path(plan, words):
                    paths.append(path)
                    at += length
                    break
            else:
                if not self._is_small(tokens, at):
                    return None
                at += 1
        if not paths:
            return None
        try:
            made = with_column(plan, *paths)
        except UnclearError as error:
            return Understood(reason=str(error))
        unsure = plan.unsure + (plan.kind != "list")
        return Understood((replace(made, unsure=unsure),))

    def _column_path(self, plan: Plan, words: tuple[str, ...]) -> str | None:
        """The property that words name, of the records or of the clients they belong to."""
        entity = self._vocabulary.entities[plan.entity.key]
        if entity.join is not None:
            return None
        for meaning in entity.lexicon.get(words, ()):
            if meaning.kind in ("property", "date"):
                return str(meaning.value)
            if meaning.kind == "dimension" and meaning.value.path.count("/") < 3:
                return str(meaning.value.path)
            if meaning.kind == "measure" and entity.is_number(meaning.value.value):
                return str(meaning.value.value)
        clients = self._vocabulary.entities["Clients"]
        client = entity.dimensions.get("client")
        if client is None or client.path != "Client/name":
            return None
        own = next((one for one in clients.lexicon.get(words, ()) if one.kind == "property"), None)
        return None if own is None else f"Client/{own.value}"

    def _is_small(self, tokens: Sequence[Token], at: int) -> bool:
        """Whether a word only stands between columns."""
        kinds = {kind for _, _, one in positions(tokens[at : at + 1], self._vocabulary)
                 for kind in one}  # fmt: skip
        vocabulary, word = self._vocabulary, tokens[at].stem
        return bool(kinds & _SKIPPED) or word in (*vocabulary.wordings.polite, *vocabulary.links)

    # --- what is asked

    def _with_asked(self, plan: Plan, asked: Asked, *, is_tail: bool = False) -> Plan | None:
        """A plan with what a wording asks of it; None where its words say something else.

        Raises: UnclearError.
        """
        follow, dimensions = self._vocabulary.wordings.follow, plan.entity.dimensions
        if asked.kind == "person":
            role = follow.roles.get(asked.rest.lower())
            did = f"who {asked.rest or 'is responsible for'}"
            return with_named(plan, person_of(plan.entity, role), did, is_new=not is_tail)
        if asked.kind == "client":
            return with_named(plan, dimensions.get("client"), "what client belongs to",
                              is_new=not is_tail)  # fmt: skip
        if asked.kind == "when":
            return with_date(plan, asked.rest.lower(), self._vocabulary)
        if asked.kind == "records":
            return as_list(plan)
        if asked.kind == "ordinal":
            return with_number(plan, asked.rest.lower(), self._vocabulary)
        if asked.kind == "difference":
            return with_difference(plan, asked.rest)
        return self._with_figure(plan, asked, is_tail=is_tail)

    def _with_figure(self, plan: Plan, asked: Asked, *, is_tail: bool) -> Plan | None:
        """How many they are, or how much that is."""
        is_amount = asked.kind == "amount"
        kept = asked.each or is_tail
        if plan.limit == 1 and is_amount:
            return plan if plan.kind != "list" else _with_amount(plan)
        if kept and asked.each and plan.kind == "list" and is_amount:
            return _with_amount(plan)
        if kept and is_amount and plan.kind == "measure":
            return plan
        if plan.limit is not None:
            text = f"the figure of the first {plan.limit} alone; ask for that of all"
            raise UnclearError(text)
        if not kept and (plan.dimensions or plan.grain) and plan.kind in ("count", "measure"):
            plan = replace(plan, dimensions=(), grain=None, ranked=None, sort=None, chart=None)
            if (plan.kind == "measure") == is_amount:
                return plan
        base = self._of_theirs(plan) if is_amount else plan
        words = "total amount" if is_amount else "how many"
        found = self._changed(base, list(tokenise(words)))
        if found is None or len(found.plans) != 1:
            reason = found.reason if found is not None else None
            raise UnclearError(reason or "what amount is meant", found.choices if found else ())
        made = found.plans[0]
        if is_tail and plan.kind in ("count", "measure"):
            return beside(plan, made)
        return made

    @abstractmethod
    def _of_theirs(self, plan: Plan) -> Plan:
        """The plan whose records have an amount: clients were chosen by their invoices."""


def _with_amount(plan: Plan) -> Plan:
    if plan.entity.amount is None:
        raise UnclearError("what amount is meant")
    return with_column(plan, plan.entity.amount)


def _chooses(tokens: Sequence[Token]) -> bool:
    """``which of them have a phone number``: those that have one, not the number of each."""
    stems = [one.stem for one in tokens]
    return any(one in _HAVING and two in _ANY for one, two in pairwise(stems))

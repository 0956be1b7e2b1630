"""What a question goes on from: the plans of those before it, and whom they named."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.bi.nlq.adding import is_one
from app.bi.nlq.naming import AmbiguousName
from app.bi.nlq.slots import positions
from app.bi.nlq.tails import Tails
from app.bi.nlq.understood import Understood
from app.bi.plans.plan import Plan
from app.bi.words.tokens import Token

_MOST = 4  # contexts, and choices from them


@dataclass(frozen=True)
class Context:
    """What a question may go on from; ``note`` says where that is not the whole of the last."""

    plans: tuple[Plan, ...]
    earlier: str
    note: str = ""

    def less_sure(self, plan: Plan) -> Plan:
        if not self.note:
            return plan
        return replace(plan.with_assumption(self.note), unsure=plan.unsure + 1)


class Contexts(Tails):
    """The part of understanding that is about what was asked before."""

    _earlier: dict[int, Understood]

    @abstractmethod
    def of(self, question: str, before: Sequence[str]) -> Understood:
        """What a question means after others."""

    def _context(self, before: Sequence[str]) -> Context | None:
        """The last question, or what of it was understood, or the one before that."""
        checks = self._vocabulary.wordings.follow.checks
        last = len(before) - 1
        while last > 0 and checks.search(before[last]) and self._is_of_one(before, last):
            last -= 1  # "is it paid?": what is asked next is about it, paid or not
        for at in range(last, -1, -1):
            plans = self._plans_of(before, at)
            note = "" if at == last else f"it goes on from “{before[at]}”"
            if not plans and at == last and (part := self._readable(before, at)):
                return part
            if self._found(before, at).choices:
                note = f"“{before[at]}” can be meant in several ways"
            if plans:
                return Context(plans[:_MOST], before[at], note)
        return None

    def _plan(self, before: Sequence[str], at: int) -> Plan | None:
        """The one plan of an earlier question; None where it has none or several."""
        plans = self._found(before, at).plans
        return plans[0] if len(plans) == 1 else None

    def _is_of_one(self, before: Sequence[str], at: int) -> bool:
        plan = self._plan(before, at)
        return plan is not None and is_one(plan)

    def _found(self, before: Sequence[str], at: int) -> Understood:
        """What was understood of an earlier question; found out once."""
        if at not in self._earlier:
            self._earlier[at] = Understood()
            try:
                self._earlier[at] = self.of(before[at], before[:at])
            except AmbiguousName:
                return Understood()
        return self._earlier[at]

    def _plans_of(self, before: Sequence[str], at: int) -> tuple[Plan, ...]:
        """The plans of an earlier question, of its choices where it had some."""
        found = self._found(before, at)
        if found.plans or not found.choices:
            return found.plans
        plans: list[Plan] = []
        for text in found.choices[:_MOST]:
            try:
                plans += self._whole(self._repaired(self._rewritten(text))).plans
            except AmbiguousName:
                continue
        return tuple(plans)

    def _readable(self, before: Sequence[str], at: int) -> Context | None:
        """What is left of a question that was sent back without the words nobody knew."""
        strange = self._found(before, at).unknown
        dropped = {word for one in strange for word in one.lower().split()}
        tokens = self._repaired(self._rewritten(before[at]))
        kept = [one for one in tokens if one.text.lower() not in dropped]
        if not dropped or len(kept) == len(tokens) or not kept:
            return None
        try:
            plans = self._whole(kept).plans
        except AmbiguousName:
            return None
        if len(plans) != 1 or _is_of_all(plans[0]) or not self._names_kind(kept):
            return None  # the word that nobody knew may have said of what it is
        words = ", ".join(f"“{one}”" for one in strange)
        return Context(plans, before[at], f"{words} of the question before is left aside")

    def _names_kind(self, tokens: Sequence[Token]) -> bool:
        """Whether records, or figures of some, are named."""
        nouns = any("noun" in kinds for _, _, kinds in positions(tokens, self._vocabulary))
        told = self._vocabulary.is_of_records
        return nouns or any(told(one.stem, {"measure", "rate", "subset"}) for one in tokens)

    # --- whom it means

    def _is_of_theirs(self, question: str, tokens: Sequence[Token]) -> bool:
        """``what about their projects``: records of whoever was named."""
        nouns = any("noun" in kinds for _, _, kinds in positions(tokens, self._vocabulary))
        return nouns and bool(self._vocabulary.wordings.follow.owners.search(question))

    def _with_names(self, question: str, before: Sequence[str]) -> Understood | None:
        """``what do they still owe``: the question about whom the one before named."""
        follow = self._vocabulary.wordings.follow
        if not (follow.pronouns.search(question) or follow.owners.search(question)):
            return None
        who, is_name = self._whom(before)
        if not who:
            return None
        text = follow.pronouns.sub(lambda _: who, question.strip(" ?!."))
        if follow.owners.search(text):
            text = f"{follow.owners.sub('', text)} of {who}"
        found = self._of_text(text, ())
        if len(found.plans) != 1:
            return None
        made = found.plans[0]
        unsure = made.unsure + (not is_name)
        note = f"asked of {who}"
        return Understood((replace(made.with_assumption(note), unsure=unsure),))

    def _whom(self, before: Sequence[str]) -> tuple[str, bool]:
        """Who was named last, or which records were asked for; whether it is a name."""
        for at in range(len(before) - 1, -1, -1):
            plan = self._plan(before, at)
            if plan is None:
                continue
            if named := self._named(plan):
                return named, True
            if plan.kind == "list" and not (plan.limit or plan.order or plan.period):
                text = self._vocabulary.wordings.follow.lists.sub("", before[at].strip(" ?!."))
                return text, False
        return "", False

    @staticmethod
    def _named(plan: Plan) -> str:
        """The client, project or colleague that a question was about; nothing where it was none."""
        paths = {one.key for name in ("client", "project", "owner", "assignee", "manager", "author")
                 if (one := plan.entity.dimensions.get(name)) is not None}  # fmt: skip
        paths |= {"id"}
        said = [one for one in plan.conditions
                if one.path in paths and len(one.values) == 1 and not one.negated]  # fmt: skip
        named = {one.words for one in said if one.words != "yours"}
        return f'"{named.pop()}"' if len(named) == 1 else ""


def _is_of_all(plan: Plan) -> bool:
    """Whether a list is of all records: what was not understood may be all that restricted it."""
    said = plan.conditions or plan.period or plan.limit or plan.order
    return plan.kind in ("list", "count") and not (said or plan.dimensions or plan.grain)

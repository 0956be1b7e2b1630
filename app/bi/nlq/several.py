"""Several figures, or two questions, in one: what becomes of them together."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace

from app.bi.nlq.accounting import asked
from app.bi.nlq.against import halves, opposed
from app.bi.nlq.counted import counted
from app.bi.nlq.enumerated import enumerated, figures_named
from app.bi.nlq.figures import side_by_side, with_figures
from app.bi.nlq.linking import bare, linked, restriction
from app.bi.nlq.parts import Two, together, two_measures, two_of
from app.bi.nlq.relating import Relating
from app.bi.nlq.shown import shown_columns, with_columns
from app.bi.nlq.slots import positions
from app.bi.nlq.understood import Understood
from app.bi.plans.plan import Plan
from app.bi.words.tokens import Token, phrase


class Several(Relating):
    """The part of understanding that is about questions with more than one figure."""

    @abstractmethod
    def _fresh(self, tokens: list[Token]) -> Understood:
        """A question by itself."""

    @abstractmethod
    def _follows(self, tokens: Sequence[Token]) -> bool:
        """Whether it begins like one that goes on, or names nothing of its own."""

    @abstractmethod
    def _changed(self, plan: Plan, tokens: list[Token]) -> Understood | None:
        """A plan, changed by what a later question says; None where it says something else."""

    def _whole(self, tokens: list[Token]) -> Understood:
        """A question by itself; less sure where it names more figures than are answered."""
        named = figures_named(tokens, self._vocabulary)
        if named > 2 and (listed := self._enumerated(tokens)):
            return listed
        found = self._of_figures(tokens)
        plans = tuple(replace(one, unsure=one.unsure + (named > 2 and 1 + len(one.figures) < named))
                      for one in found.plans)  # fmt: skip
        return replace(found, plans=plans)

    def _enumerated(self, tokens: list[Token]) -> Understood | None:
        plan = enumerated(tokens, self._vocabulary, lambda part: self._fresh(part).plans)
        return None if plan is None else Understood((plan,))

    def _of_figures(self, tokens: list[Token]) -> Understood:
        """A question that may have several figures or columns, or be two."""
        if shown := shown_columns(tokens, self._vocabulary):
            found = self._fresh(list(shown.tokens))
            listed = [with_columns(one, shown) for one in found.plans]
            if listed and all(listed):
                return Understood(tuple(one for one in listed if one))
        if sides := side_by_side(tokens, self._vocabulary):
            found = self._fresh(list(sides.tokens))
            made = [with_figures(one, sides.methods) for one in found.plans]
            if made and all(made):
                return Understood(tuple(one for one in made if one))
        if measures := two_measures(tokens, self._vocabulary):
            found = self._of_two(measures, tokens)
            if found.is_two or (found.plans and found.plans[0].figures):
                return found
        tokens = list(counted(tokens, self._vocabulary) or tokens)
        found = self._one_or_two(tokens)
        if found.is_two or not (found.plans or found.choices):
            found = self._enumerated(tokens) or found
        if found.plans or found.choices:
            return found
        plan = linked(tokens, self._vocabulary, lambda part: self._fresh(part).plans)
        return found if plan is None else Understood((plan,))

    def _narrowed(self, plan: Plan, tokens: Sequence[Token]) -> Understood | None:
        """``without any invoice this year``: of the records before, those without others."""
        clause = restriction(tokens, self._vocabulary)
        if clause is None or plan.kind not in ("list", "count"):
            return None
        noun = [Token(text, text) for text in phrase(plan.entity.many)]
        found = self._fresh([*noun, *clause]).plans
        more = found[0] if len(found) == 1 else None
        if more is None or bare(more) != bare(Plan(plan.entity, "list")):
            return None
        known = {one.odata for one in plan.conditions}
        fresh = [one for one in more.conditions if one.odata not in known]
        return Understood((replace(plan, conditions=(*plan.conditions, *fresh),
                                   unsure=plan.unsure + more.unsure),))  # fmt: skip

    def _one_or_two(self, tokens: list[Token]) -> Understood:
        if (two := two_of(tokens, self._vocabulary)) is None:
            found = self._fresh(tokens)
            is_sure = found.choices or any(not one.unsure for one in found.plans)
            return found if is_sure else self._against(tokens) or found
        return self._of_two(two, tokens)

    def _against(self, tokens: Sequence[Token]) -> Understood | None:
        """``tickets created vs solved``: each by itself, in one answer."""
        for first, second in halves(tokens, self._vocabulary):
            plans = [one.plans[:1] for one in (self._fresh([*first]), self._fresh([*second]))]
            both = opposed(plans[0][0], plans[1][0]) if all(plans) else None
            if both is not None:
                return Understood((both,))
            if all(plans):  # "per week": each has a date of its own
                texts = (" ".join(one.text for one in half) for half in (first, second))
                return Understood(choices=tuple(texts), reason="which", is_two=True)
        return None

    def _of_two(self, two: Two, tokens: list[Token]) -> Understood:
        """Both of two questions, if one query answers them; else a choice."""
        first = self._fresh(list(two.first))
        second = self._second(two, first)
        if not (first.plans and second.plans):
            return self._of_one(two, first, second, tokens)
        counts = self._counts(two.second)
        for one in first.plans:
            for other in second.plans:
                if both := together(one, other, counts=counts, again=two.apart):
                    return Understood((both,))
                for own in self._beside(one, two, counts=counts):
                    return Understood((own,))
        texts = tuple(" ".join(token.text for token in part) for part in (two.first, two.second))
        return Understood(choices=texts, reason="which", is_two=True)

    def _beside(self, plan: Plan, two: Two, *, counts: bool) -> Iterator[Plan]:
        """``AUR-T2 in Q1: quantity and net value``: a second figure of the same records."""
        kinds = {kind for _, _, kinds in positions(two.second, self._vocabulary) for kind in kinds}
        found = None if "noun" in kinds or counts else self._changed(plan, list(two.second))
        for other in found.plans if found is not None else ():
            if plan.measure is not None and (both := together(plan, other, counts=False,
                                                              again=False)):  # fmt: skip
                yield both

    def _counts(self, tokens: Sequence[Token]) -> bool:
        """Whether it is asked how many there are."""
        return any("count" in kinds for _, _, kinds in positions(tokens, self._vocabulary))

    def _second(self, two: Two, first: Understood) -> Understood:
        """The second question, by itself or as one that goes on."""
        tokens = list(two.second)
        is_one = len(first.plans) == 1
        own = self._vocabulary.entities[first.plans[0].entity.key] if is_one else None
        told = positions(tokens, self._vocabulary, own)  # an account manager is no account
        kinds = {kind for _, _, kinds in told for kind in kinds}
        if "by" in kinds and "noun" not in kinds and (shared := self._sharing(first, tokens)):
            return shared
        if not self._follows(tokens):
            found = self._whole(tokens)
            if found.plans or found.choices:
                return found
        plans = [self._changed(one, tokens) for one in first.plans[:1]]
        return next((one for one in plans if one is not None), Understood())

    def _sharing(self, first: Understood, tokens: list[Token]) -> Understood | None:
        """``number of open tasks and estimated hours per assignee``: of the open ones, too."""
        plan = first.plans[0] if len(first.plans) == 1 else None
        if plan is None or plan.dimensions or plan.grain:
            return None
        found = self._changed(plan, tokens)
        if found is None or not found.plans:
            return None
        unsure = bool(plan.conditions)
        return Understood(tuple(replace(o, unsure=o.unsure + unsure) for o in found.plans))

    def _of_one(
        self, two: Two, first: Understood, second: Understood, tokens: list[Token]
    ) -> Understood:
        """What looks like two questions and is not two that are understood."""
        whole = self._fresh(tokens)
        if second.choices and first.plans:
            text = " ".join(token.text for token in two.first)
            return Understood(choices=(text, *second.choices), is_two=True)
        same = [asked(one) for one in first.plans] == [asked(one) for one in whole.plans]
        if first.plans and same and not two.apart:  # the second shows nowhere
            texts = [" ".join(token.text for token in part) for part in (two.first, two.second)]
            return Understood(choices=tuple(texts), is_two=True)
        found = second if two.apart and not (whole.plans or whole.choices) else whole
        aside = " ".join(token.text for token in two.first)
        plans = tuple(replace(one, unsure=one.unsure + 1) for one in found.plans)
        if found is second:
            plans = tuple(one.with_assumption(f"“{aside}” is left aside") for one in plans)
        return replace(found, plans=plans) if plans else whole

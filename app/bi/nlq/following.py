"""A question that goes on from those before it: asked of them, or a change of what they asked."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace

from app.bi.nlq.accounting import asked
from app.bi.nlq.adding import as_list, beside, grouped, is_one, of_set
from app.bi.nlq.checking import UnclearError
from app.bi.nlq.contexts import Context, Contexts
from app.bi.nlq.continuing import changed
from app.bi.nlq.owned import of_client
from app.bi.nlq.reading import Reading
from app.bi.nlq.slots import positions, scan
from app.bi.nlq.understood import Understood
from app.bi.nlq.vocabulary import Entity
from app.bi.plans.plan import Condition, Plan
from app.bi.words.tokens import Token, phrase, repairs

# What a question may have that only names records: "which customers".
_BARE = {"noun", "list", "stop", "and_then", "or", "listed"}
_UNNAMED = ("which", "what", "these", "those", "who", "the")


class Following(Contexts):
    """The part of understanding that is about questions that go on."""

    @abstractmethod
    def _weighed(self, reading: Reading, plan: Plan, plan_of: Callable[[Reading], Plan]) -> Plan:
        """The plan of a reading, less sure for each word that shows nowhere in it."""

    # --- how it begins

    def _points_back(self, tokens: Sequence[Token]) -> bool:
        """``the biggest of them``: it is about what was asked before, or about nothing."""
        kinds = [kinds for _, _, kinds in positions(tokens, self._vocabulary)]
        return any("of_them" in one for one in kinds)

    def _leads_on(self, tokens: Sequence[Token]) -> bool:
        """``and Tom?``, ``by month``: it begins like one that goes on."""
        first = positions(tokens, self._vocabulary)[:1]
        return bool(first and first[0][0] == 0 and {"and_then", "by"} & set(first[0][2]))

    def _follows(self, tokens: Sequence[Token]) -> bool:
        """Whether it begins like one that goes on, or names nothing of its own."""
        if self._leads_on(tokens) or self._restricts(tokens):
            return True
        kinds = [kinds for _, _, kinds in positions(tokens, self._vocabulary)]
        nouns = any("noun" in one for one in kinds)
        telling = any(
            entity.tells({token.stem for token in tokens}, ("measure", "rate"))
            for entity in self._vocabulary.entities.values()
        )
        return not nouns and not telling

    def _restricts(self, tokens: Sequence[Token]) -> bool:
        """``without any invoice this year``: it only says more of records."""
        first = positions(tokens, self._vocabulary)[:1]
        if not first or first[0][0] or tokens[0].stem in self._vocabulary.yes_no:
            return False
        return bool({"with", "without"} & set(first[0][2]))

    def _seems_to_follow(self, question: str, tokens: Sequence[Token]) -> bool:
        """Whether a question that was not read so may have been meant to go on."""
        follow = self._vocabulary.wordings.follow
        whose = follow.pronouns.search(question) or follow.owners.search(question)
        return bool(whose) or self._leads_on(tokens) or bool(self._bare_kind(question, tokens))

    @staticmethod
    def _by_itself(found: Understood, earlier: str) -> Understood:
        """What was understood, less sure for what it may have been meant to go on from."""
        note = f"this does not go on from “{earlier}”"
        plans = (one.with_assumption(note) for one in found.plans)
        return replace(found, plans=tuple(replace(one, unsure=one.unsure + 1) for one in plans))

    # --- what it says

    def _asked_before(self, question: str, before: Sequence[str]) -> Understood | None:
        """``who runs them``, ``which customers``: asked of what was named before."""
        follow = self._vocabulary.wordings.follow
        said = follow.asked(question)
        tokens = self._repaired(self._rewritten(question))
        kind = None if said else self._bare_kind(question, tokens)
        if said is None and kind is None:
            return self._told_of_each(question, tokens, before)
        context = self._context(before)
        if context is None:
            reason = f"what it goes on from: “{before[-1]}” was not understood"
            return Understood(reason=reason, settled=said is not None)
        if said is not None:
            return self._each_of(context, lambda plan: self._with_asked(plan, said))
        return self._each_of(context, lambda plan: self._of_kind(plan, str(kind)))

    def _told_of_each(
        self, question: str, tokens: Sequence[Token], before: Sequence[str]
    ) -> Understood | None:
        """``and their e-mails``, ``reminders sent``: columns of a list before, no new question."""
        theirs = self._vocabulary.wordings.follow.owners.search(question)
        if not (theirs or self._is_bare_figure(tokens)) or self._is_summed_up(tokens):
            return None
        context = self._context(before)
        plan = context.plans[0] if context is not None and len(context.plans) == 1 else None
        if context is None or plan is None or plan.kind != "list":
            return None
        found = self._with_columns(plan, tokens)
        plans = tuple(context.less_sure(one) for one in found.plans) if found else ()
        return Understood(plans) if plans else None

    def _is_summed_up(self, tokens: Sequence[Token]) -> bool:
        """``their total``: one figure of all; ``their totals`` are those of each."""
        return any(
            (one.stem,) in self._vocabulary.figures and not one.text.lower().endswith("s")
            for one in tokens
        )

    def _is_bare_figure(self, tokens: Sequence[Token]) -> bool:
        """Whether a figure is named, and nothing that says of what or how."""
        stems = tuple(one.stem for at, one in enumerate(tokens) if not self._is_small(tokens, at))
        return self._vocabulary.is_measure(stems)

    def _kinds_alone(self, tokens: Sequence[Token]) -> set[str] | None:
        """The kinds of records in words that have neither names nor days; None where they have."""
        named = any(one.kind != "word" or one.is_capital for one in tokens)
        timed = any(self._vocabulary.periods.tells(tokens, at) for at in range(len(tokens)))
        if named or timed:
            return None
        found = positions(tokens, self._vocabulary)
        return {str(kinds["noun"]) for _, _, kinds in found if "noun" in kinds}

    def _either(
        self, question: str, tokens: list[Token], before: Sequence[str]
    ) -> Understood | None:
        """``how much is still open``, ``average deal size``: of what was asked before, or of all.

        Of one record it is that, of a list less surely; of other figures it is a choice.
        """
        nouns = self._kinds_alone(tokens)
        context = self._context(before)
        all_of = self._vocabulary.wordings.follow.all_of.search(question)
        if context is None or len(context.plans) != 1 or nouns is None or all_of:
            return None
        plan = context.plans[0]
        if nouns - {plan.entity.key} or not (plan.conditions or plan.period):
            return None
        found = self._changed(plan, tokens)
        if found is None or len(found.plans) != 1:
            return None
        made = context.less_sure(found.plans[0])
        if plan.kind == "list" and not nouns:
            return Understood((replace(made, unsure=made.unsure + (not is_one(plan))),))
        fresh = self._whole(tokens).plans
        if len(fresh) != 1 or asked(fresh[0]) == asked(made) or fresh[0].kind == "list":
            return None
        restricted = any(one.words != "issued" for one in fresh[0].conditions)
        return None if nouns and restricted else Understood((made, fresh[0]))

    def _each_of(self, context: Context, made: Callable[[Plan], Plan | None]) -> Understood | None:
        """What becomes of each plan it may go on from: one, or several to choose from."""
        plans: list[Plan] = []
        reason: UnclearError | None = None
        for one in context.plans:
            try:
                plan = made(one)
            except UnclearError as error:
                reason = reason or error
                continue
            plans += [] if plan is None else [context.less_sure(plan)]
        if plans:
            return Understood(tuple(plans))
        if reason is None:
            return None
        return Understood(reason=str(reason), choices=reason.choices, settled=True)

    def _bare_kind(self, question: str, tokens: Sequence[Token]) -> str | None:
        """``which customers``, ``what invoices are those``: the kind of records, and no more."""
        if self._vocabulary.wordings.follow.all_of.search(question):
            return None
        found = positions(tokens, self._vocabulary)
        nouns = [str(kinds["noun"]) for _, _, kinds in found if "noun" in kinds]
        whole = sum(end - at for at, end, _ in found) == len(tokens)
        plain = all(_BARE & set(kinds) for _, _, kinds in found)
        pointing = bool(set(re.findall(r"\w+", question.lower())) & set(_UNNAMED))
        return nouns[0] if whole and plain and pointing and len(nouns) == 1 else None

    def _of_kind(self, plan: Plan, key: str) -> Plan | None:
        """``which customers``: the records that a figure is of, or the groups behind it."""
        if key == plan.entity.key:
            return as_list(plan)
        entity = self._vocabulary.entities[key]
        dimension = plan.entity.dimensions.get(entity.one)
        if dimension is not None and dimension.path.count("/") == 1:
            made = grouped(plan, dimension)
            return replace(made, unsure=made.unsure + 1)
        if key in plan.entity.related and plan.kind in ("list", "count"):
            return self._theirs(as_list(plan), key) or _of_same_client(plan, entity)
        return _of_same_client(plan, entity)

    def _theirs(self, plan: Plan, key: str) -> Plan | None:
        """``which invoices``, of clients: those that the clients were chosen by, or all."""
        entity, link = self._vocabulary.entities[key], plan.entity.one
        inner = next((one.inner for one in plan.conditions
                      if one.inner is not None and one.inner.entity is entity), None)  # fmt: skip
        others = tuple(one for one in plan.conditions if inner is None or one.inner is not inner)
        client = entity.dimensions.get(link)
        if plan.entity.key != "Clients" or client is None or client.path != "Client/name":
            return None
        own = of_client(replace(plan, conditions=others, extra_columns=())) if others else ()
        if own is None:
            raise UnclearError(f"which {entity.many} are meant")
        base = inner or Plan(entity, "list")
        return replace(plan, entity=entity, conditions=(*base.conditions, *own),
                       period=base.period, date=base.date, order=None, order_words="", limit=None,
                       extra_columns=(), unsure=plan.unsure + 1)  # fmt: skip

    def _of_theirs(self, plan: Plan) -> Plan:
        """The plan whose records have an amount: clients were chosen by their invoices."""
        inners = [one.inner for one in plan.conditions if one.inner is not None]
        keys = [one.entity.key for one in inners if one.entity.default_measure is not None]
        if plan.kind != "list" or plan.entity.default_measure is not None or not keys:
            return plan
        return self._theirs(plan, keys[0]) or plan

    # --- changed

    def _continued(self, tokens: list[Token], before: Sequence[str]) -> Understood | None:
        """What the last question means, changed by what this one says."""
        context = self._context(before)
        if context is None:
            return None
        found = self._each_change(context, tokens)
        found = found or self._of_others(tokens, context)
        return found or self._each_of(context, lambda plan: self._only(plan, tokens))

    def _only(self, plan: Plan, tokens: Sequence[Token]) -> Plan | None:
        """Those of the records before that are as a clause says."""
        found = self._narrowed(plan, tokens)
        return found.plans[0] if found is not None and found.plans else None

    def _each_change(self, context: Context, tokens: list[Token]) -> Understood | None:
        plans: list[Plan] = []
        unclear: Understood | None = None
        for one in context.plans:
            found = self._changed(one, tokens)
            plans += [context.less_sure(plan) for plan in (found.plans if found else ())]
            unclear = unclear or found
        return Understood(tuple(plans)) if plans else unclear

    def _changed(self, plan: Plan, tokens: list[Token]) -> Understood | None:
        """A plan, changed by what a later question says; None where it says something else."""
        told = self._more(plan, tokens)
        if told is not None:
            return told
        rest, related = self._relations(plan, tokens)
        entity = self._vocabulary.entities[plan.entity.key]
        slots = scan(rest, entity, self._vocabulary, self._names, self._periods)
        reading = Reading(entity, self._now, self._caller_id).read(slots)
        if reading.left:
            return self._with_columns(plan, tokens)
        try:
            made = changed(plan, reading, repairs(tokens))
            made = self._weighed(reading, made, lambda other: changed(plan, other))
        except UnclearError as error:
            return self._with_columns(plan, tokens) or Understood(
                reason=str(error), choices=error.choices
            )
        return Understood((replace(made, conditions=(*made.conditions, *related)),))

    def _relations(
        self, plan: Plan, tokens: list[Token]
    ) -> tuple[list[Token], tuple[Condition, ...]]:
        """``without any invoice this year``: records that those before have, or have not."""
        nouns = any("noun" in kinds for _, _, kinds in positions(tokens, self._vocabulary))
        if not nouns or plan.kind not in ("list", "count"):
            return tokens, ()
        head = [Token(one, one) for one in phrase(plan.entity.one)]
        try:
            entity = self._vocabulary.entities[plan.entity.key]
            rest, related, unknown = self._related(entity, [*head, *tokens])
        except UnclearError:
            return tokens, ()
        is_head = [one.stem for one in rest[: len(head)]] == [one.stem for one in head]
        if not related or unknown or not is_head:
            return tokens, ()
        return rest[len(head) :], related

    def _more(self, plan: Plan, tokens: list[Token]) -> Understood | None:
        """``number of invoices too``: a figure beside the one before, a group beside the others."""
        more = self._vocabulary.wordings.follow.more
        ends = {0, len(tokens) - 1, len(tokens) - 2}
        kept = [one for at, one in enumerate(tokens)
                if at not in ends or not more.fullmatch(one.text)]  # fmt: skip
        if len(kept) == len(tokens) or not kept:
            return None
        found = self._changed(plan, kept)
        if found is None or len(found.plans) != 1:
            return found
        both = beside(plan, found.plans[0])
        return Understood((both,)) if both is not None else found

    def _of_others(self, tokens: Sequence[Token], context: Context) -> Understood | None:
        """``what about leads?``: the question before, asked of other records."""
        text = " ".join(token.text for token in tokens)
        same = self._vocabulary.wordings.follow.same.sub("", text)
        tokens = tokens if same == text else self._repaired(same)
        kinds = [kinds for _, _, kinds in positions(tokens, self._vocabulary)]
        nouns = [kinds["noun"] for kinds in kinds if "noun" in kinds]
        plain = all({"noun", "and_then", "stop", "list", "by"} & set(one) for one in kinds)
        whole = sum(end - at for at, end, _ in positions(tokens, self._vocabulary))
        if len(nouns) != 1 or not plain or whole != len(tokens):
            return None
        entity = self._vocabulary.entities[str(nouns[0])]
        words = self._repaired(self._rewritten(context.earlier))
        places = [(at, end) for at, end, kinds in positions(words, self._vocabulary)
                  if "noun" in kinds]  # fmt: skip
        if len(places) != 1:
            made = [of_set(one, entity) for one in context.plans]
            return Understood(tuple(context.less_sure(one) for one in made if one)) \
                if any(made) else None  # fmt: skip
        at, end = places[0]
        replaced = [Token(text, text) for text in phrase(entity.one + "s")]
        found = self._fresh([*words[:at], *replaced, *words[end:]])
        return replace(found, plans=tuple(context.less_sure(one) for one in found.plans))


def _of_same_client(plan: Plan, entity: Entity) -> Plan | None:
    """``which invoices``, after tickets of a client: the invoices of the same client."""
    client = entity.dimensions.get("client")
    own = tuple(one for one in plan.conditions
                if one.path == "clientId" or (one.path or "").startswith("Client/"))  # fmt: skip
    if not own or client is None or client.path != "Client/name" or entity.join is not None:
        return None
    return Plan(entity, "list", conditions=own, zone=plan.zone, today=plan.today,
                unsure=plan.unsure + 1)  # fmt: skip

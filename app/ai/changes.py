"""The change that a message wants, as a proposal: only what can be done, and nothing is guessed.

Whatever is declared is proposed: an operation, a new record, another value (docs/adr/0049), a note
and a mail. The words that want it are those by which a model's proposals are checked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from app.ai.free_text import FreeText, amended, read_text
from app.ai.lexicon import KINDS, SIGNS, Message, is_asked, language_of, message_of, spoken
from app.ai.parts import Ask, Part, RecordContext, Text, ToolCall, ToolResult
from app.ai.references import find_mentioned, find_numbered
from app.ai.tools import Tool, may_propose, proposal_of, tools
from app.ai.values import Filling
from app.ai.wishes import CHANGING, clauses_of, sentences_of
from app.bi.answering import named_among, periods_in
from app.localisation.catalogue import marked
from app.odata.names import snake

TOLD = marked("I propose: %(summary)s Nothing happens until you confirm it.")
NOT_ALLOWED = marked("Your role does not allow that, so I do not propose it.")
UNKNOWN = marked("I found no record that is called “%(name)s”.")
NEEDS_RECORD = marked("Say which record is meant: name it, or ask on its page.")
_LONGEST_AMENDMENT = 12


@dataclass(frozen=True)
class Change:
    """What is wanted, how many words say so, and the message in the language that it is in.

    ``free_text``: the text that it has, where it takes one. ``later``: messages that complete or
    correct it. ``unknown``: whose it is to be, where no one record is called so.
    """

    tool: Tool
    strength: int
    message: Message
    record: RecordContext | None
    free_text: FreeText | None = None
    later: tuple[str, ...] = ()
    unknown: str = ""

    @property
    def name(self) -> str:
        """What it calls its record."""
        return "" if self.free_text is None else self.free_text.name

    def without_name(self) -> Change:
        """The same where nobody is called so: the name is part of the text."""
        assert self.free_text is not None
        text = f"{self.free_text.name}: {self.free_text.text}"
        return replace(self, free_text=replace(self.free_text, name="", text=text))

    @property
    def is_whole(self) -> bool:
        """Whether it says both what is to be done and with what, or speaks of the record."""
        return self.strength > 1 or (self.free_text is not None and self.free_text.refers)

    @property
    def code(self) -> str:
        """The language that it is in."""
        return self.message.lexicon.code


def find_change(ask: Ask) -> Change | None:
    """The change that a message wants, by the most of its words; of two that of a text."""
    record = next(iter(find_numbered(ask.text)), ask.record)
    entity = record.entity if record is not None else ""
    likeliest = language_of(ask.text)
    wanted = [*_with_text(ask.text, record), *_in_clause(ask.text, record, entity)]
    if not wanted:
        return _by_values(ask, record)
    change = max(wanted, key=lambda each: (
        each.strength, bool(each.tool.kind), not each.tool.needs_values, each.code == likeliest,
    ))  # fmt: skip
    is_numbered = record is not ask.record
    if is_numbered or change.tool.record is None or change.free_text is not None:
        return change
    # Beside a record, what is said of another one is a change of that.
    whose = _whose(change.message, change.tool.values_of)
    if whose is None:
        return change
    named, rest = whose
    if named is None:
        return replace(change, unknown=rest)
    return find_change(replace(ask, context=named, text=rest))


def _whose(message: Message, entity: str) -> tuple[RecordContext | None, str] | None:
    """The one record whose name stands behind "of", and the message without that: ``set the status
    of Acme Works to …``; the name where there is none, or several.

    Args:
        entity: the type whose properties are changed.
    """
    for start, name_at in message.places("summary.towards"):
        links = (at for at, _ in message.places("update.links") if at > name_at)
        end = next(links, len(message))
        name = message.written(name_at, end).strip(SIGNS)
        records = find_mentioned("", name).records if name else []
        is_name = bool(name) and _is_name(message, name_at, entity)
        if len(records) == 1 and (is_name or records[0].title.lower() == name.lower()):
            rest = message.written(end) if end < len(message) else ""
            return records[0], f"{message.written(0, start)} {rest}".strip() if start else rest
        if is_name:
            return None, name
    return None


def _is_name(message: Message, index: int, entity: str) -> bool:
    """Whether a word begins as names do, and is no value, kind or day."""
    token, code = message.tokens[index], message.lexicon.code
    is_other = message.at_any(("language.articles", "language.things", KINDS), index)
    if is_other or not token.text[:1].isupper():
        return False
    values = {start for start, *_ in named_among(message.tokens, code, entity)}
    days = {start for start, *_ in periods_in(message.tokens, code)}
    return token.start not in values and index not in days


def _with_text(text: str, record: RecordContext | None) -> Iterator[Change]:
    """Those that take a text, which begins behind the words that want it."""
    for tool in tools().values():
        for code in spoken() if tool.kind else ():
            free_text = read_text(text, code, tool.kind)
            head = message_of("" if free_text is None else free_text.head, code)
            strength = tool.wish.strength(head, "")
            if free_text is not None and strength and tool.is_meant(free_text, strength):
                # "Note that" says more than "note".
                strength += bool(message_of(free_text.link, code).at("mail.telling", 0))
                yield Change(tool, strength, message_of(text, code), record, free_text)


def _in_clause(text: str, record: RecordContext | None, entity: str) -> Iterator[Change]:
    """The others that the first clause wants that wants one."""
    for sentence in sentences_of(text):
        for clauses in clauses_of(sentence):
            wanted = [
                Change(tool, strength, message_of(text, clause.lexicon.code), record)
                for clause in clauses if clause.lexicon.code in spoken()
                for tool in tools().values() if not tool.kind and tool.may_be(clause, entity)
                if (strength := tool.wish.strength(clause, entity))
            ]  # fmt: skip
            if wanted:
                yield from wanted
                return


def _by_values(ask: Ask, record: RecordContext | None) -> Change | None:
    """What tells two values of the record and no more, ``priority high``, or the end of it: ``we
    lost it``."""
    tool = tools().get(f"update_{snake(record.entity)}") if record is not None else None
    if tool is None or "?" in ask.text or is_asked(ask.text):
        return None
    for code in spoken():
        message = message_of(ask.text, code)
        filling = Filling(message, tool.schema["properties"], tool.values_of)
        filling.read_properties()
        is_told = message.has("language.things") and bool(tool.missing({**filling.values, "id": 1}))
        if filling.is_all and (is_told or len(filling.spans) > 1):
            return Change(tool, 1, message, record)
    return None


def amends(ask: Ask, before: Change, text: str) -> bool:
    """Whether a message says another value, or one that was asked for: ``no, pending``."""
    tool, message = before.tool, message_of(text, before.code)
    if before.free_text is not None:
        return amended(before.free_text, text, before.code, tool.kind) is not None
    if len(message) > _LONGEST_AMENDMENT:
        return False
    earlier = _filled(ask, before)
    filling = _filling(before, text, earlier, is_whole=False)
    is_corrected = message.at_any(("language.correcting", "language.polite", *CHANGING), 0)
    missing = tool.missing(earlier.all)
    is_less = len(tool.missing({**earlier.all, **filling.values})) < len(missing)
    return is_less or bool(is_corrected and filling.values)


def fills(change: Change, text: str) -> bool:
    """Whether a text says arguments of a change: ``and create an opportunity`` of a conversion."""
    return bool(_filling(change, text, None, is_whole=False).values)


def is_open(ask: Ask, change: Change) -> bool:
    """Whether something was asked for, and nothing proposed."""
    return bool(change.tool.missing(_filled(ask, change).all))


def is_nothing(ask: Ask, change: Change) -> bool:
    """Whether the one word that says it says too little: "they moved" changes no record."""
    is_weak = change.free_text is None and change.strength == 1
    return is_weak and answer_change(ask, change) is None


def answer_change(ask: Ask, change: Change) -> Iterator[Part] | None:
    """The proposal, or what it needs besides; None where the words say too little of it."""
    tool, message = change.tool, change.message
    if change.unknown:
        return iter((Text(ask.translated(UNKNOWN, name=change.unknown)),))
    if tool.needs_record and change.record is None:
        is_meant = change.free_text or change.strength > 1 or message.has("language.things")
        return iter((Text(ask.translated(NEEDS_RECORD)),)) if is_meant else None
    filling = _filled(ask, change)
    if filling.unknown:
        return iter((Text(ask.translated(UNKNOWN, name=filling.unknown)),))
    if tool.needs_values and filling.all.keys() <= {"id"}:
        unclear = tool.unclear(filling)
        return None if unclear is None else iter((Text(unclear),))
    if missing := tool.missing(filling.all):
        if "amount" in missing and change.strength == 1:
            return None  # "paid" alone says how it is
        return iter((Text(tool.wanted(missing, filling.all, ask.language)),))
    return _proposed(ask, tool, filling)


def _proposed(ask: Ask, tool: Tool, filling: Filling) -> Iterator[Part]:
    """The proposal, for those who may confirm it."""
    proposal = proposal_of(tool, filling.all, language=ask.language)
    yield ToolCall("propose_action", {"tool": tool.name, **proposal.arguments})
    if not may_propose(tool, proposal.arguments):
        yield ToolResult("denied", "the caller may not do this")
        yield Text(ask.translated(NOT_ALLOWED))
        return
    yield ToolResult("ok", "proposed")
    yield replace(proposal, replaces=ask.replaces)
    yield Text(ask.translated(TOLD, summary=proposal.summary))
    if filling.remark:
        yield Text(filling.remark)


def _filled(ask: Ask, change: Change) -> Filling:
    """What a message and those after it say of the arguments."""
    filling = _filling(change, change.message.text, None, language=ask.language)
    for text in change.later:
        if change.free_text is not None:
            free_text = amended(change.free_text, text, change.code, change.tool.kind)
            change = replace(change, free_text=free_text or change.free_text)
        filling = _filling(change, text, filling, language=ask.language)
    return filling


def _filling(
    change: Change, text: str, before: Filling | None, language: str = "", *, is_whole: bool = True
) -> Filling:
    """What a message says; with what goes without saying, where it is whole."""
    tool = change.tool
    filling = Filling(
        message_of(text, change.code), tool.schema["properties"], tool.values_of, change.record,
        change.free_text, before, language,
    )  # fmt: skip
    tool.fill(filling)
    if is_whole:
        tool.complete(filling)
        if change.strength > 1:
            tool.assume(filling)
    return filling

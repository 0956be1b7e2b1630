"""Changes that a message wants by the names of operations, records and properties.

Whatever is declared is proposed: an operation, a new record, another value (docs/adr/0049). The
words that want it are those by which a model's proposals are checked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from app.ai.context import entity_type, states_of
from app.ai.lexicon import KINDS, Message, is_number as is_numeral, language_of, message_of, spoken
from app.ai.parts import Ask, Part, RecordContext, Text
from app.ai.references import find_numbered
from app.ai.tools import CreateTool, OperationTool, Tool, UpdateTool, proposal_of, tools
from app.ai.understanding import Request, is_asked
from app.ai.values import Filling, text_wanted
from app.ai.wishes import clauses_of, sentences_of
from app.ai.wording import label
from app.bi.periods.reader import is_one
from app.container import engine
from app.container.words import options_of, word_text
from app.odata.names import snake
from app.written.catalogue import marked

NEEDS_VALUES = marked("Say also: %(names)s.")
NEEDS_RECORD = marked("Say which record is meant: name it, or ask on its page.")
_LONGEST_AMENDMENT = 12
_LONGEST_STATE = 3
# States that want a reason -> the property that takes it.
_REASONS: Mapping[str, str] = {"ClosedLost": "lostReason", "Disqualified": "disqualifyReason"}
# These are read with the text that they are about.
_BY_TEXT = frozenset(("create_task", "add_note", "draft_mail"))


@dataclass(frozen=True)
class Change:
    """What is wanted, how many words say so, and the message in the language that it is in."""

    tool: Tool
    strength: int
    message: Message
    record: RecordContext | None
    later: tuple[str, ...] = ()  # messages that complete or correct it


def find_change(ask: Ask) -> Change | None:
    """The change that the first clause wants that wants one, by the most of its words."""
    record = next(iter(find_numbered(ask.text)), ask.record)
    entity = record.entity if record is not None else ""
    likeliest = language_of(ask.text)
    for sentence in sentences_of(ask.text):
        for clauses in clauses_of(sentence):
            wanted = [
                (strength, tool, clause)
                for clause in clauses if clause.lexicon.code in spoken()
                for tool in tools().values() if _may_be(tool, clause, entity)
                if (strength := tool.wish.strength(clause, entity))
            ]  # fmt: skip
            if wanted:
                strength, tool, clause = max(
                    wanted,
                    key=lambda each: (
                        each[0],
                        isinstance(each[1], OperationTool),
                        each[2].lexicon.code == likeliest,
                    ),
                )
                message = message_of(ask.text, clause.lexicon.code)
                return Change(tool, strength, message, record)
    return _change_by_values(ask, record)


def stronger_change(ask: Ask, request: Request | None) -> Change | None:
    """The change that a message wants, where more of its words say so than want the request."""
    change, strength = find_change(ask), 0 if request is None else request.strength
    return change if change is not None and change.strength > strength else None


def _change_by_values(ask: Ask, record: RecordContext | None) -> Change | None:
    """What tells two values of the record and no more, ``priority high``, or the end of it: ``we
    lost it``."""
    tool = tools().get(f"update_{snake(record.entity)}") if record is not None else None
    if tool is None or "?" in ask.text or is_asked(ask.text):
        return None
    for code in spoken():
        message = message_of(ask.text, code)
        filling = Filling(message, tool.schema["properties"], entity_type(tool.values_of))
        is_told = message.has("language.things") and not _REASONS.keys().isdisjoint(
            filling.values.values()
        )
        if filling.is_all and (is_told or len(filling.spans) > 1):
            return Change(tool, 1, message, record)
    return None


def _may_be(tool: Tool, clause: Message, entity: str) -> bool:
    """Whether a tool is for the record that is looked at, or makes what is named first."""
    if tool.name in _BY_TEXT:
        return False
    if isinstance(tool, CreateTool):
        start, end = next(clause.places(KINDS), (0, 0))
        is_first = end > 0 and clause.value(KINDS, start)[1] == tool.entity
        return is_first and is_one(clause.tokens[end - 1])
    record = tool.record
    return tool.is_of_one and record is not None and entity in ("", record)


def amends(ask: Ask, before: Change, text: str) -> bool:
    """Whether a message says another value, or one that was asked for: ``no, pending``."""
    message = message_of(text, before.message.lexicon.code)
    if len(message) > _LONGEST_AMENDMENT:
        return False
    open_names = _missing(before.tool, _filled(ask, before) or {})
    is_corrected = message.at_any(("language.correcting", "language.polite"), 0)
    filling = _filling(before.tool, message, None)
    is_number = any(map(is_numeral, message.tokens))
    says_more = bool(filling.values) or (isinstance(before.tool, UpdateTool) and is_number)
    return bool(open_names & filling.values.keys()) or bool(is_corrected and says_more)


def fills(change: Change, text: str) -> bool:
    """Whether a text says arguments of a change: ``and create an opportunity`` of a conversion."""
    message = message_of(text, change.message.lexicon.code)
    return bool(_filling(change.tool, message, None).values)


def answer_change(ask: Ask, change: Change) -> Iterator[Part] | None:
    """The proposal, or what it needs besides; None where the words say too little of it."""
    tool, message, record = change.tool, change.message, change.record
    if tool.record is not None and record is None:
        is_meant = change.strength > 1 or message.has("language.things")
        return iter((Text(ask.translated(NEEDS_RECORD)),)) if is_meant else None
    arguments = _filled(ask, change)
    if arguments is None:
        return _unknown_state(ask, change) if isinstance(tool, UpdateTool) else None
    if missing := _missing(tool, arguments):
        if "amount" in missing and change.strength == 1:
            return None  # "paid" alone says how it is
        state = arguments.get(tool.state) if isinstance(tool, UpdateTool) else None
        names = [name for name in tool.schema["properties"] if name in missing]
        return iter((Text(_wanted(ask, tool, names, state)),))
    return _proposed(ask, change, arguments)


def _proposed(ask: Ask, change: Change, arguments: dict[str, Any]) -> Iterator[Part]:
    tool, record = change.tool, change.record
    if (
        isinstance(tool, UpdateTool)
        and record is not None
        and arguments.keys() == {"id", tool.state}
    ):
        state = arguments[tool.state]
        if engine.read_one(record.path, select=tool.state)[tool.state] == state:
            word = word_text(state, ask.language)
            yield Text(ask.translated("%(record)s is %(state)s already.", record=record.title,
                                      state=word))  # fmt: skip
            return
    yield proposal_of(tool, arguments, language=ask.language)


def _unknown_state(ask: Ask, change: Change) -> Iterator[Part] | None:
    """That there is no such state, and which ones there are; what a property is to be."""
    tool, message = change.tool, change.message
    assert isinstance(tool, UpdateTool)
    states = states_of(tool.entity, tool.state)
    names = _filling(tool, message, None).names - {tool.state}
    if names and message.has("update.verbs") and "?" not in ask.text:
        return iter((Text(_wanted(ask, tool, sorted(names), None)),))
    places = [end for _, end in message.places("update.links")]
    text = message.written(places[-1]).strip(" .!") if places else ""
    is_word = text.replace(" ", "").isalpha() and len(text.split()) <= _LONGEST_STATE
    if not states or not is_word:
        return None
    known = ", ".join(word_text(each, ask.language) for each in states)
    return iter((Text(ask.translated(
        "%(text)s is no %(property)s. There are: %(states)s.",
        text=text, property=label(tool.state, ask.language), states=known,
    )),))  # fmt: skip


def _filling(tool: Tool, message: Message, record: RecordContext | None) -> Filling:
    """What a message says of the arguments of a tool."""
    filling = Filling(message, tool.schema["properties"], entity_type(tool.values_of), record)
    if isinstance(tool, CreateTool):
        filling.read_new()
        filling.read_address()
    elif isinstance(tool, UpdateTool):
        filling.read_states(tool.state, tool.imperatives)
    else:
        filling.read_flags()
        for name in tool.schema.get("required", ()):
            if tool.schema["properties"][name].get("type") == "number":
                filling.read_amount(name)
    return filling


def _filled(ask: Ask, change: Change) -> dict[str, Any] | None:
    """The arguments, as far as they are said; None where none is that would be one."""
    tool, message = change.tool, change.message
    required = tool.schema.get("required", ())
    arguments = {} if tool.record is None else _keys(change)
    values: dict[str, Any] = {}
    for each in (message, *(message_of(text, message.lexicon.code) for text in change.later)):
        filling = _filling(tool, each, change.record)
        if isinstance(tool, OperationTool):
            if name := text_wanted(tool.schema["properties"], required):
                filling.read_text(name)
            if "date" in required:
                filling.read_day("date")
        numbers = [name for name, value in values.items() if isinstance(value, int | Decimal)]
        if isinstance(tool, UpdateTool) and not filling.values and len(numbers) == 1:
            filling.read_amount(numbers[0])  # "no, 21"
        values |= filling.values
    if not isinstance(tool, OperationTool) and not values:
        return None
    if isinstance(tool, OperationTool) and change.strength > 1 and change.record is not None:
        for name, path in tool.usual.items():
            if name not in values:
                values[name] = engine.read_one(change.record.path, select=path)[path]
    return {**arguments, **values}


def _missing(tool: Tool, arguments: Mapping[str, Any]) -> set[str]:
    """The arguments that it needs besides; a state that wants a reason needs that, too."""
    missing = {name for name in tool.schema.get("required", ()) if name not in arguments}
    if isinstance(tool, UpdateTool):
        reason = _REASONS.get(str(arguments.get(tool.state)), "")
        missing |= {reason} - {"", *arguments}
    return missing


def _wanted(ask: Ask, tool: Tool, names: list[str], state: str | None) -> str:
    """What to say besides, with what it can be."""
    properties = entity_type(tool.values_of).properties
    phrases = []
    for name in names:
        # "Other" wants a text besides, which is a person's to write.
        options = options_of(properties[name]) if name in properties else ()
        known = ", ".join(word_text(each, ask.language) for each in options if each != "Other")
        if state is not None:
            return ask.translated(
                "Say why, such as: mark it as %(state)s because of %(reasons)s.",
                state=word_text(state, ask.language), reasons=known,
            )  # fmt: skip
        phrase = label(name.removesuffix("Id"), ask.language)
        phrases.append(f"{phrase} ({known})" if known else phrase)
    return ask.translated(NEEDS_VALUES, names=", ".join(phrases))


def _keys(change: Change) -> dict[str, Any]:
    """The key of the record; of two of a type the first is merged into the other."""
    numbered = find_numbered(change.message.text)
    first, others = next(iter(numbered), change.record), numbered[1:]
    schemas = change.tool.schema["properties"]
    if first is None or first.entity != change.tool.record:
        return {}
    if others and "targetId" in schemas:
        return {"id": first.key, "targetId": others[0].key}
    if others and "sourceId" in schemas:
        return {"id": others[0].key, "sourceId": first.key}
    return {"id": first.key}

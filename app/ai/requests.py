"""What a message wants done, as a proposal: only what can be done, and nothing is guessed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

from app.ai.context import states_of
from app.ai.drafts import propose_mail
from app.ai.lexicon import message_of
from app.ai.parts import Ask, Part, Proposal, RecordContext, Text, ToolCall, ToolResult
from app.ai.refusals import NO_WRITES
from app.ai.tools.listed import may_propose, tools
from app.ai.tools.own import NOTED
from app.ai.tools.tool import require_possible, state_property
from app.ai.understanding import MAIL, NOTE, STATE, TASK, Request
from app.ai.wording import day_text, label
from app.container import engine
from app.container.words import word_text
from app.db.types import iso_instant
from app.odata.names import snake
from app.search.slips import intended_stem
from app.settings.days import NOON, start_of
from app.written.catalogue import marked

NEEDS_RECORD = marked("Say which record is meant: name it, or ask on its page.")
TOLD = marked("I propose: %(summary)s Nothing happens until you confirm it.")
NOT_ALLOWED = marked("Your role does not allow that, so I do not propose it.")
NO_TASK = marked("Say what the task is, such as: create a task to call Eva tomorrow.")
_TITLE_LENGTH = 255
_SUMMARY_LENGTH = 480
# States that want a reason -> the property that takes it.
_REASONS: Mapping[str, str] = {"ClosedLost": "lostReason", "Disqualified": "disqualifyReason"}


def answer_request(ask: Ask, request: Request) -> Iterator[Part]:
    """The proposal that is asked for, to those who may confirm it; else why there is none."""
    if request.kind == TASK:
        parts = _propose_task(ask, request)
    elif ask.record is None:
        parts = iter((Text(ask.translated(NEEDS_RECORD)),))
    else:
        parts = _PROPOSED[request.kind](ask, ask.record, request)
    for part in parts:
        if isinstance(part, Proposal):
            yield ToolCall("propose_action", {"tool": part.tool, **part.arguments})
            if not may_propose(tools()[part.tool], part.arguments):
                yield ToolResult("denied", "the caller may not do this")
                yield Text(ask.translated(NOT_ALLOWED))
                return
            yield ToolResult("ok", "proposed")
            yield replace(part, replaces=ask.replaces)
            yield Text(ask.translated(TOLD, summary=part.summary))
        else:
            yield part


def _propose_task(ask: Ask, request: Request) -> Iterator[Part]:
    if not request.text:
        yield Text(ask.translated(NO_TASK))
        return
    title = (request.text[0].upper() + request.text[1:])[:_TITLE_LENGTH]
    arguments: dict[str, Any] = {"title": title}
    summary = ask.translated("Create the task “%(title)s”", title=title)
    if request.due is not None:
        hour, minute = (NOON, 0) if request.at is None else (request.at.hour, request.at.minute)
        arguments["dueAt"] = iso_instant(start_of(request.due, hour) + timedelta(minutes=minute))
        day = day_text(request.due.isoformat(), ask.language)
        summary += ask.translated(", due on %(day)s", day=day)
        if request.at is not None:
            summary += ask.translated(" at %(time)s", time=f"{request.at:%H:%M}")
    if ask.record is not None:
        arguments |= {"relatedType": ask.record.entity, "relatedId": ask.record.key}
        summary += ask.translated(", for %(record)s", record=ask.record.title)
    yield Proposal("create_task", _short(summary), arguments)


def _propose_note(ask: Ask, record: RecordContext, request: Request) -> Iterator[Part]:
    if record.entity not in NOTED:
        kind = label(record.entity, ask.language)
        yield Text(ask.translated("I cannot add notes to records of the type %(type)s.", type=kind))
        return
    arguments = {"type": record.entity, "id": record.key, "text": request.text}
    summary = _short(
        ask.translated("Add to %(record)s the note: %(text)s", record=record.title,
                       text=request.text)
    )  # fmt: skip
    yield Proposal("add_note", _short(summary), arguments)


def _propose_state(ask: Ask, record: RecordContext, request: Request) -> Iterator[Part]:
    """The change of a stage or status.

    Raises: InvalidStateError, the record cannot become that from what it is.
    """
    name = state_property(record.entity)
    states = states_of(record.entity, name)
    state = next((each for each in request.states if each in states), None)
    if not request.states:
        state = _state_called(request.text, states, request.language)
    called = label(name, ask.language)
    if state is None:
        known = ", ".join(word_text(each, ask.language) for each in states)
        unknown = ask.translated("%(text)s is no %(property)s. There are: %(states)s.",
                                 text=request.text, property=called, states=known)  # fmt: skip
        is_unknown = states and not request.states
        yield Text(unknown if is_unknown else ask.translated(NO_WRITES))
        return
    values = {"record": record.title, "state": word_text(state, ask.language)}
    arguments: dict[str, Any] = {"id": record.key, name: state}
    summary = ask.translated("Change the %(property)s of %(record)s to %(state)s",
                             property=called, **values)  # fmt: skip
    reason = _REASONS.get(state)
    if reason is not None:
        # "Other" wants a text besides, which is a person's to write.
        reasons = tuple(each for each in states_of(record.entity, reason) if each != "Other")
        why = _state_called(request.reason, reasons, request.language)
        if why is None:
            known = ", ".join(word_text(each, ask.language) for each in reasons)
            yield Text(ask.translated(
                "Say why, such as: mark it as %(state)s because of %(reasons)s.",
                state=values["state"], reasons=known,
            ))  # fmt: skip
            return
        arguments[reason] = why
        summary += f", {label(reason, ask.language)}: {word_text(why, ask.language)}"
    if engine.read_one(record.path, select=name)[name] == state:
        yield Text(ask.translated("%(record)s is %(state)s already.", **values))
        return
    require_possible(record, name, state)
    yield Proposal(f"update_{snake(record.entity)}", _short(summary), arguments)


def _state_called(text: str, states: tuple[str, ...], language: str) -> str | None:
    """The state that is meant by its name, or by a word for it."""
    name = text.replace(" ", "").replace("-", "").lower()
    for state in states:
        if name in (state.lower(), word_text(state, language).replace(" ", "").lower()):
            return state
    meant = message_of(text, language).value("state.values", 0)[1] or ()
    named = {each.replace(" ", "").lower(): state for state in states
             for each in (state, word_text(state, language))}  # fmt: skip
    slip = intended_stem(name, dict.fromkeys(named, 1.0), str)
    return next((state for state in meant if state in states), named.get(slip))


def is_reason(text: str, language: str) -> bool:
    """Whether a text is a reason for a state that wants one."""
    return any(
        _state_called(text, states_of(entity, name), language)
        for entity, name in (("Opportunity", "lostReason"), ("Lead", "disqualifyReason"))
    )


def _short(summary: str) -> str:
    """A summary as a sentence: a name may end with a dot."""
    cut = f"{summary[:_SUMMARY_LENGTH]}\N{HORIZONTAL ELLIPSIS}"
    whole = summary if len(summary) <= _SUMMARY_LENGTH else cut
    return f"{whole.removesuffix('.')}."


_PROPOSED = {NOTE: _propose_note, MAIL: propose_mail, STATE: _propose_state}

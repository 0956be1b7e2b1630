"""What a message wants done, as a proposal: only what can be done, and nothing is guessed.

A mail is written in the language that its reader reads, with amounts as they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from app.ai.changes import NEEDS_RECORD
from app.ai.context import citation_of
from app.ai.lexicon import message_of
from app.ai.parts import Ask, Part, Proposal, RecordContext, Text, ToolCall, ToolResult
from app.ai.record import PROFILES, list_related
from app.ai.tools import NOTED, may_propose, proposal_of, short_sentence, tools
from app.ai.understanding import MAIL, NOTE, TASK, Request
from app.ai.wording import day_text, label, value_text
from app.bi.words.speech import capital
from app.container import engine
from app.db.types import iso_instant
from app.errors import ForbiddenError
from app.http.security import current_caller
from app.settings.days import NOON, start_of
from app.written.catalogue import SOURCE, languages, marked

TOLD = marked("I propose: %(summary)s Nothing happens until you confirm it.")
NOT_ALLOWED = marked("Your role does not allow that, so I do not propose it.")
NO_TASK = marked("Say what the task is, such as: create a task to call Eva tomorrow.")
_TITLE_LENGTH = 255


def answer_request(ask: Ask, request: Request) -> Iterator[Part]:
    """The proposal that is asked for, to those who may confirm it; else why there is none."""
    if request.kind == TASK:
        parts = _propose_task(ask, request)
    elif ask.record is None:
        parts = iter((Text(ask.translated(NEEDS_RECORD)),))
    else:
        parts = _PROPOSED[request.kind](ask, ask.record, request)
    yield from offered(ask, parts)


def offered(ask: Ask, parts: Iterator[Part]) -> Iterator[Part]:
    """Parts of an answer, with a proposal for those who may confirm it."""
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
    yield Proposal("create_task", short_sentence(summary), arguments)


def _propose_note(ask: Ask, record: RecordContext, request: Request) -> Iterator[Part]:
    if record.entity not in NOTED:
        kind = label(record.entity, ask.language)
        yield Text(ask.translated("I cannot add notes to records of the type %(type)s.", type=kind))
        return
    arguments = {"type": record.entity, "id": record.key, "text": request.text}
    yield proposal_of(tools()["add_note"], arguments, language=ask.language)


# --- mails, as drafts

OTHER_LANGUAGE = marked(
    "It is written in %(language)s, which they read; your own words stand in it as you wrote them."
)
_LANGUAGES = {"en": marked("English"), "de": marked("German")}
_SUBJECT_LENGTH = 200


@dataclass(frozen=True)
class _Letter:
    """Whom a mail goes to, how they are addressed, and what of the record belongs in it.

    ``reader``: the message as if it had been asked in the language of the mail.
    """

    to: str | None
    name: str | None
    reader: Ask
    facts: tuple[str, ...] = ()


def _propose_mail(ask: Ask, record: RecordContext, request: Request) -> Iterator[Part]:
    """The draft of a mail about a record, for a person to send."""
    letter = _letter(ask, record)
    if letter.to is None:
        yield Text(ask.translated("%(record)s has no e-mail address.", record=record.title))
        return
    reader = letter.reader
    bills = _open_invoices(reader, record, request)
    subject = reader.translated("Open invoices") if bills else _subject(record, request)
    subject = capital(subject)[:_SUBJECT_LENGTH]
    greeting = reader.translated("Hello,")
    if letter.name:
        greeting = reader.translated("Hello %(name)s,", name=letter.name)
    body = "\n".join([
        greeting, "", *(bills or _about(reader, request)), *letter.facts, "",
        reader.translated("Kind regards"), *_signature(),
    ])  # fmt: skip
    arguments = {"to": letter.to, "subject": subject, "body": body}
    yield proposal_of(tools()["draft_mail"], arguments, language=ask.language)
    if request.language != reader.language and request.text and not bills:
        called = ask.translated(_LANGUAGES.get(reader.language, reader.language))
        yield Text(ask.translated(OTHER_LANGUAGE, language=called))


def _subject(record: RecordContext, request: Request) -> str:
    """What the mail is about, with the word whose case it is in: ``Wegen der Messe``."""
    link = message_of(request.link, request.language)
    if link.at("mail.telling", 0) and record.entity == "Ticket":
        return record.title
    is_governed = bool(request.text) and link.at("mail.governing", 0)
    return f"{request.link} {request.text}" if is_governed else request.text or record.title


def _letter(ask: Ask, record: RecordContext) -> _Letter:
    row = engine.read_one(record.path)

    def written_in(*tags: str | None) -> Ask:
        """The message in the first of some languages that is set."""
        code = next(filter(None, tags), ask.language).partition("-")[0].lower()
        return replace(ask, language=code if code in languages() else SOURCE)

    if record.entity == "Client":
        return _Letter(row["email"], None, written_in(row["language"]))
    if record.entity == "Lead":
        return _Letter(row["email"], row["fullName"], ask)
    client = _behind(record, "Client", "email,invoiceEmail,language")
    reader = written_in(row.get("language"), client.get("language"))
    if record.entity == "Contact":
        return _Letter(row["email"], row["fullName"], reader)
    if record.entity == "Ticket":
        contact = _behind(record, "Contact", "fullName,email")
        is_asking = contact.get("email") == row["requesterEmail"]
        about = reader.translated("This is about %(number)s: %(subject)s.", number=row["number"],
                                  subject=row["subject"])  # fmt: skip
        name = contact.get("fullName") if is_asking else None
        return _Letter(row["requesterEmail"], name, reader, (about,))
    facts = tuple(_invoice_facts(reader, row)) if record.entity == "Invoice" else ()
    to = client.get("invoiceEmail") or client.get("email") if facts else client.get("email")
    return _Letter(to, None, reader, facts)


def _behind(record: RecordContext, navigation: str, select: str) -> dict[str, Any]:
    """The record behind a navigation property; nothing where there is none for the caller."""
    try:
        row = engine.read_one(record.path, select="id", expand=f"{navigation}($select={select})")
    except ForbiddenError:
        return {}
    return row[navigation] or {}


def _signature() -> Iterator[str]:
    """Who writes, where it is a person."""
    user_id = current_caller().user_id
    user = engine.find_one(f"Users({user_id})", select="displayName") if user_id else None
    if user is not None:
        yield user["displayName"]


def _about(reader: Ask, request: Request) -> Iterator[str]:
    """What the mail is about, as the caller said it."""
    text = request.text
    if not text:
        return
    link = message_of(request.link, request.language)
    if reader.language != request.language or not len(link):
        text = f"{request.link} {text}" if link.at("mail.governing", 0) else text
        yield f"{capital(text)}."
    elif link.at("mail.telling", 0):
        yield reader.translated("I would like to let you know that %(text)s.", text=text)
    else:
        about = f"{request.link} {text}"
        yield reader.translated("I am writing to you %(about)s.", about=about)


def _open_invoices(reader: Ask, record: RecordContext, request: Request) -> list[str]:
    """The unpaid invoices of a client, where the mail is to be about them."""
    message = message_of(request.text, request.language)
    if record.entity != "Client" or not message.has("mail.bills"):
        return []
    (unpaid,) = (each for each in PROFILES["Client"].listings if each.navigation == "Invoices")
    parts = list_related(reader, record, replace(unpaid, most=20), citation_of(record), None)
    lines = [part.text.strip() for part in parts if isinstance(part, Text)]
    return [reader.translated("These invoices are unpaid:"), *lines[1:]] if lines else []


def _invoice_facts(reader: Ask, row: dict[str, Any]) -> Iterator[str]:
    if not row["number"]:
        return
    amount = value_text(row["amountDue"], reader.language, currency=row["currency"])
    yield reader.translated("This is about invoice %(number)s: %(amount)s is due.",
                            number=row["number"], amount=amount)  # fmt: skip
    if row["isOverdue"]:
        day = day_text(row["dueDate"], reader.language)
        yield reader.translated("It was to be paid by %(day)s.", day=day)


_PROPOSED = {NOTE: _propose_note, MAIL: _propose_mail}

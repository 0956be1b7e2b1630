"""Mails about records, as drafts for a person to send.

A mail is written in the language that its reader reads, with amounts as they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from app.ai.context import citation_of
from app.ai.free_text import FreeText
from app.ai.lexicon import message_of
from app.ai.parts import Ask, RecordContext, Text
from app.ai.record import PROFILES, list_related
from app.ai.wording import day_text, value_text
from app.bi.words.speech import capital
from app.container import engine
from app.errors import ForbiddenError, InvalidStateError
from app.http.security import current_caller
from app.localisation.catalogue import SOURCE, languages, marked

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


def draft_mail(
    record: RecordContext, free_text: FreeText, code: str, language: str
) -> tuple[dict[str, Any], str]:
    """The draft of a mail about a record, and what to tell of it beside.

    Args:
        free_text: what it is to be about.
        code: the language that this is written in.
        language: that of the conversation.
    Raises: InvalidStateError, nobody has an address.
    """
    ask = Ask("", record, language=language)
    letter = _letter(ask, record)
    if letter.to is None:
        text = ask.translated("%(record)s has no e-mail address.", record=record.title)
        raise InvalidStateError(text)
    reader = letter.reader
    about = _About("" if free_text.is_record else free_text.text, free_text.link, code)
    bills = _open_invoices(reader, record, about)
    subject = reader.translated("Open invoices") if bills else about.subject(record)
    greeting = reader.translated("Hello,")
    if letter.name:
        greeting = reader.translated("Hello %(name)s,", name=letter.name)
    body = "\n".join([
        greeting, "", *(bills or about.lines(reader)), *letter.facts, "",
        reader.translated("Kind regards"), *_signature(),
    ])  # fmt: skip
    draft = {"to": letter.to, "subject": capital(subject)[:_SUBJECT_LENGTH], "body": body}
    if code == reader.language or not about.text or bills:
        return draft, ""
    called = ask.translated(_LANGUAGES.get(reader.language, reader.language))
    return draft, ask.translated(OTHER_LANGUAGE, language=called)


@dataclass(frozen=True)
class _About:
    """What a mail is about, as the caller said it in a language."""

    text: str
    link: str
    code: str

    def _is_led(self, path: str) -> bool:
        """Whether the word that leads to it is of a list."""
        return bool(self.text and message_of(self.link, self.code).at(path, 0))

    def subject(self, record: RecordContext) -> str:
        """The subject, with the word whose case it is in: ``Wegen der Messe``."""
        if self._is_led("mail.telling") and record.entity == "Ticket":
            return record.title
        is_governed = self._is_led("mail.governing")
        return f"{self.link} {self.text}" if is_governed else self.text or record.title

    def lines(self, reader: Ask) -> Iterator[str]:
        """The sentence that says it."""
        if not self.text:
            return
        if reader.language != self.code or not self.link:
            text = f"{self.link} {self.text}" if self._is_led("mail.governing") else self.text
            yield f"{capital(text)}."
        elif self._is_led("mail.telling"):
            yield reader.translated("I would like to let you know that %(text)s.", text=self.text)
        else:
            about = f"{self.link} {self.text}"
            yield reader.translated("I am writing to you %(about)s.", about=about)


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


def _open_invoices(reader: Ask, record: RecordContext, about: _About) -> list[str]:
    """The unpaid invoices of a client, where the mail is to be about them."""
    is_of_bills = message_of(about.text, about.code).has("mail.bills")
    if record.entity != "Client" or not is_of_bills:
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

"""A row of outgoing mail as the message that goes over the wire (RFC 5322)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from email.header import Header
from email.headerregistry import Address, Group
from email.message import EmailMessage
from email.policy import SMTPUTF8, EmailPolicy

from app.blobs import blobs
from app.mail.address import find_server_form, server_form
from app.mail.recipients import waiting
from app.models.event import OutgoingMail
from app.settings import Organisation

# Where nobody has said whom mail comes from.
NOBODY = "noreply@localhost"


class MailPolicy(EmailPolicy):
    """SMTP's lines; a subject in other letters is encoded as a whole.

    The library encodes single words, and where it breaks the line before one, readers see two
    spaces instead of one.
    """

    def fold(self, name: str, value: str) -> str:
        if name != "Subject" or value.isascii() or self.utf8:
            return str(super().fold(name, value))
        encoded = Header(str(value), "utf-8", header_name=name).encode(linesep=self.linesep)
        return f"{name}: {encoded}{self.linesep}"

    def fold_binary(self, name: str, value: str) -> bytes:
        """The header as the lines that go over the wire."""
        if name != "Subject":
            return bytes(super().fold_binary(name, value))
        return self.fold(name, value).encode("utf-8" if self.utf8 else "ascii")


_PLAIN = MailPolicy(linesep="\r\n")


@dataclass(frozen=True)
class Envelope:
    """A message, whom it comes from and to whom it goes. ``needs_utf8``: by RFC 6531 only.

    ``recipients``: address as a server is given it -> as it is kept; ``unreachable`` are those,
    as they are kept, of whom no server can be given the address.
    """

    message: EmailMessage
    sender: str
    recipients: Mapping[str, str]
    unreachable: tuple[str, ...]
    needs_utf8: bool

    def as_bytes(self) -> bytes:
        """The message, lines ending with CR LF."""
        return self.message.as_bytes(policy=SMTPUTF8 if self.needs_utf8 else _PLAIN)


def blind_copies(settings: Organisation) -> tuple[str, ...]:
    """Who gets every mail without being named in it."""
    return (settings.mail.copy_to,) if settings.mail.copy_to else ()


def make_envelope(row: OutgoingMail, settings: Organisation) -> Envelope:
    """The message of a row for some who wait for it; its Message-ID is always that of the row.

    A message to an address in other letters reaches those servers only that know RFC 6531, also
    behind the next one. So it goes to such recipients by itself, and to the others in a form that
    every server takes; who waits longest decides for whom this one is.

    Returns: the envelope; it has no recipients where all are unreachable.
    Raises: ValueError, a header would have more than one line; ServiceUnavailableError, a file
        cannot be read now.
    """
    mail, seller = settings.mail, settings.seller
    sender = server_form(mail.sender_address or seller.email or NOBODY)
    forms: dict[str, str] = {}
    unreachable = []
    for address in waiting(row, blind_copies(settings)):
        form = find_server_form(address)
        if form is None:
            unreachable.append(address)
        else:
            forms.setdefault(form, address)
    needs_utf8 = not (sender.isascii() and next(iter(forms), "").isascii())
    recipients = {
        form: address
        for form, address in forms.items()
        if not sender.isascii() or form.isascii() is not needs_utf8
    }
    message = EmailMessage(policy=SMTPUTF8)
    message["From"] = _address(sender, mail.sender_name or seller.name)
    message["To"] = [_named(address, needs_utf8) for address in row.to]
    if row.cc:
        message["Cc"] = [_named(address, needs_utf8) for address in row.cc]
    answers_to = find_server_form(mail.reply_to) if mail.reply_to else None
    if answers_to and (needs_utf8 or answers_to.isascii()):
        message["Reply-To"] = _address(answers_to)
    message["Subject"] = row.subject
    message["Date"] = row.created_at
    message["Message-ID"] = row.message_id
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(row.text_body, cte="quoted-printable")
    if row.html_body:
        message.add_alternative(row.html_body, subtype="html", cte="quoted-printable")
    for attached in row.attachments:
        maintype, _, subtype = attached["contentType"].partition("/")
        message.add_attachment(
            blobs.current.read(attached["blobKey"]),
            maintype=maintype, subtype=subtype, filename=attached["name"],
        )  # fmt: skip
    return Envelope(message, sender, recipients, tuple(unreachable), needs_utf8)


def _named(address: str, is_utf8: bool) -> Address | Group:
    """A recipient as the header names him; in letters that it may not have, as a group of nobody.

    Source: RFC 6857, 3.1.6, for messages that go on to who knows no RFC 6531.
    """
    form = find_server_form(address)
    return Group(address, ()) if form is None or not (is_utf8 or form.isascii()) else _address(form)


def _address(text: str, name: str = "") -> Address:
    local, _, domain = text.rpartition("@")
    return Address(name, local, domain)

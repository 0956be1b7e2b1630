"""A row of outgoing mail as the message that goes over the wire (RFC 5322)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from email.header import Header
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTPUTF8, EmailPolicy
from typing import Any

from app.blobs import blobs
from app.mail.address import server_form
from app.settings import Organisation

# Where nobody has said whom mail comes from.
NOBODY = "noreply@localhost"


class MailPolicy(EmailPolicy):
    """SMTP's lines; a subject in other letters is encoded as a whole.

    The library encodes single words, and where it breaks the line before one, readers see two
    spaces instead of one.
    """

    def fold(self, name: str, value: str) -> str:
        """The header as lines."""
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
    """A message, whom it comes from and to whom it goes. ``needs_utf8``: by RFC 6531 only."""

    message: EmailMessage
    sender: str
    recipients: tuple[str, ...]

    @property
    def needs_utf8(self) -> bool:
        """Whether an address has letters that plain SMTP does not know."""
        return not all(address.isascii() for address in (self.sender, *self.recipients))

    def as_bytes(self) -> bytes:
        """The message, lines ending with CR LF."""
        return self.message.as_bytes(policy=SMTPUTF8 if self.needs_utf8 else _PLAIN)


def make_envelope(row: Mapping[str, Any], settings: Organisation) -> Envelope:
    """The message of a row; its Message-ID is that of the row at every attempt.

    Raises: ValueError, a header would have more than one line; ServiceUnavailableError, a file
        cannot be read now.
    """
    mail, seller = settings.mail, settings.seller
    sender = server_form(mail.sender_address or seller.email or NOBODY)
    recipients, copies = (
        [server_form(to) for to in row["to"]],
        [server_form(to) for to in row["cc"]],
    )
    message = EmailMessage(policy=SMTPUTF8)
    message["From"] = _address(sender, mail.sender_name or seller.name)
    message["To"] = [_address(address) for address in recipients]
    if copies:
        message["Cc"] = [_address(address) for address in copies]
    if mail.reply_to:
        message["Reply-To"] = _address(server_form(mail.reply_to))
    message["Subject"] = row["subject"]
    message["Date"] = row["created_at"]
    message["Message-ID"] = row["message_id"]
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(row["text_body"], cte="quoted-printable")
    if row["html_body"]:
        message.add_alternative(row["html_body"], subtype="html", cte="quoted-printable")
    for attached in row["attachments"]:
        maintype, _, subtype = attached["contentType"].partition("/")
        message.add_attachment(
            blobs().read(attached["blobKey"]),
            maintype=maintype, subtype=subtype, filename=attached["name"],
        )  # fmt: skip
    blind = [server_form(mail.copy_to)] if mail.copy_to else []
    everybody = tuple(dict.fromkeys((*recipients, *copies, *blind)))
    return Envelope(message, sender, everybody)


def _address(text: str, name: str = "") -> Address:
    local, _, domain = text.rpartition("@")
    return Address(name, local, domain)

"""The dialogue with a mail server, in the one order that keeps a mail from being sent twice.

Everything that a server can refuse is asked before the message; the message goes before the point
of no return, and the dot that ends it after it. A server takes a message with its answer to the
dot (RFC 5321, 4.1.1.4), so whoever dies before the dot has sent nothing.
"""

from __future__ import annotations

import re
import smtplib
import socket
import ssl
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from app.mail.address import MailServer
from app.mail.message import Envelope

# Seconds to wait for an answer; after the dot servers look for viruses and write to disks.
ANSWER_SECONDS = 10
END_SECONDS = 90
_DOT = re.compile(rb"(?m)^\.")
_LONGEST = 500
# RFC 5321, 4.2.2 and 3.4: taken, or taken to be forwarded; 421 is no answer about a recipient.
_TAKEN, _CLOSING = (250, 251), 421


class MailError(Exception):
    """A mail was not sent; the text is for people."""


class TryAgainError(MailError):
    """Not now: the server is away, busy, or did not answer; nothing was sent."""


class RefusedError(MailError):
    """Never: the server refuses the mail, whomever it is for."""


class UnknownOutcomeError(MailError):
    """The server had the whole message and gave no answer: it may have taken it."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """What a server has against one recipient. ``is_final``: 5xx; a 4xx may be over later."""

    text: str
    is_final: bool


# By address as the server was given it; the others are taken.
Refusals = Mapping[str, Refusal]


class SmtpConnection:
    """One connection; several messages go over it."""

    def __init__(self, server: MailServer) -> None:
        """Connect, secure and sign in.

        Raises: TryAgainError, whatever fails: a wrong password is the operator's to mend.
        """
        try:
            self._smtp = self._open(server)
        except (OSError, smtplib.SMTPException) as error:
            raise TryAgainError(_reason("the mail server cannot be used", error)) from error

    def close(self) -> None:
        with suppress(OSError, smtplib.SMTPException):
            self._smtp.quit()
        self._smtp.close()

    def send(self, envelope: Envelope, before_end: Callable[[Refusals], None]) -> Refusals:
        """Send a message to those of its recipients whom the server takes; returns the others.

        Args:
            before_end: called when only the end of the message is missing; not where all of the
                recipients are refused, and nothing is sent.
        Raises: RefusedError; TryAgainError; UnknownOutcomeError; whatever ``before_end`` raises.
        """
        try:
            refused = self._announce(envelope)
            if len(refused) == len(envelope.recipients):
                self._reset()
                return refused
            self._expect(self._smtp.docmd("DATA"), 354, "the message")
            self._smtp.send(stuffed(envelope.as_bytes()))
        except (OSError, smtplib.SMTPException) as error:
            self._smtp.close()
            raise TryAgainError(_reason("the connection ended", error)) from error
        try:
            before_end(refused)
        except BaseException:
            self._smtp.close()  # without its end the message is nothing
            raise
        self._end()
        return refused

    def _announce(self, envelope: Envelope) -> dict[str, Refusal]:
        smtp, options, refused = self._smtp, [], {}
        if envelope.needs_utf8:
            if not smtp.has_extn("smtputf8"):
                raise RefusedError("the mail server does not know addresses in other letters")
            options = ["SMTPUTF8", "BODY=8BITMIME"]
        self._expect(smtp.mail(envelope.sender, options), 250, "the sender")
        for recipient in envelope.recipients:
            code, answer = smtp.rcpt(recipient)
            if code == _CLOSING:
                raise smtplib.SMTPResponseException(code, answer)
            if code not in _TAKEN:
                refused[recipient] = Refusal(f"{code} {_text(answer)}", 500 <= code < 600)
        return refused

    def _end(self) -> None:
        smtp = self._smtp
        assert smtp.sock is not None  # connected
        smtp.sock.settimeout(END_SECONDS)
        try:
            smtp.send(b".\r\n")
            reply = smtp.getreply()
        except (OSError, smtplib.SMTPException) as error:
            smtp.close()
            if isinstance(error.__context__, TimeoutError):
                raise UnknownOutcomeError(
                    f"the mail server had the message and did not answer in {END_SECONDS} seconds"
                ) from error
            # It hung up without taking the message: the sender is to try again (RFC 5321, 4.5.4.1).
            raise TryAgainError(_reason("the mail server ended the connection", error)) from error
        smtp.sock.settimeout(ANSWER_SECONDS)
        self._expect(reply, 250, "the message")

    def _expect(self, reply: tuple[int, bytes], wanted: int, what: str) -> None:
        code, answer = reply
        if code == wanted:
            return
        self._reset()
        refusal = f"{what} is refused: {code} {_text(answer)}"
        raise RefusedError(refusal) if 500 <= code < 600 else TryAgainError(refusal)

    def _reset(self) -> None:
        with suppress(OSError, smtplib.SMTPException):
            self._smtp.rset()

    def _open(self, server: MailServer) -> smtplib.SMTP:
        name = _own_name()
        context = _tls(server)
        if server.is_tls:
            smtp: smtplib.SMTP = smtplib.SMTP_SSL(
                server.host, server.port, name, timeout=ANSWER_SECONDS, context=context
            )
        else:
            smtp = smtplib.SMTP(server.host, server.port, name, timeout=ANSWER_SECONDS)
        try:
            self._prepare(smtp, server, context)
        except BaseException:
            smtp.close()
            raise
        return smtp

    def _prepare(self, smtp: smtplib.SMTP, server: MailServer, context: ssl.SSLContext) -> None:
        smtp.ehlo_or_helo_if_needed()
        is_safe = server.is_tls
        if not is_safe and server.starttls != "never":
            if smtp.has_extn("starttls"):
                smtp.starttls(context=context)
                smtp.ehlo()
                is_safe = True
            elif server.starttls == "required":
                raise smtplib.SMTPException("it does not offer STARTTLS")
        if server.username is None:
            return
        if not is_safe and not server.is_local:
            raise smtplib.SMTPException("a password is not sent over an open connection")
        smtp.login(server.username, server.password or "")


def stuffed(message: bytes) -> bytes:
    """The message with lines that begin with a dot given another (RFC 5321, 4.5.2)."""
    whole = message if message.endswith(b"\r\n") else message + b"\r\n"
    return _DOT.sub(b"..", whole)


def _tls(server: MailServer) -> ssl.SSLContext:
    context = ssl.create_default_context()
    if server.is_local:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _own_name() -> str:
    """What to greet with: the name of this machine, without asking the DNS for a longer one."""
    name = socket.gethostname()
    return name if "." in name and name.isascii() else "[127.0.0.1]"


def _text(answer: bytes) -> str:
    return " ".join(answer.decode("utf-8", "replace").split())[:_LONGEST]


def _reason(what: str, error: Exception) -> str:
    if isinstance(error, smtplib.SMTPResponseException):
        answer = error.smtp_error
        text = _text(answer) if isinstance(answer, bytes) else str(answer)
        return f"{what}: {error.smtp_code} {text}"
    return f"{what}: {error or type(error).__name__}"[:_LONGEST]

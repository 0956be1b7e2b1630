"""Mail servers for tests: a real one that can be told to refuse, and ones that misbehave."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from email.message import EmailMessage
from email.parser import BytesParser
from email.policy import default
from typing import Any

from aiosmtpd.controller import Controller

from app.mail.address import MailServer
from bench.peers.processes import free_port

TAKEN = "250 taken"


def server_at(port: int, **more: Any) -> MailServer:
    """The settings of a server on this machine."""
    return MailServer(host="127.0.0.1", port=port, **more)


@dataclass
class Mailbox:
    """What a server took, and what it answers: the next of ``answers``, then that it takes it."""

    answers: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    senders: dict[str, str] = field(default_factory=dict)
    envelopes: list[Any] = field(default_factory=list)
    on_taken: Callable[[], object] | None = None

    async def handle_MAIL(
        self, server: Any, session: Any, envelope: Any, address: str, options: list[str]
    ) -> str:
        if address in self.senders:
            return self.senders[address]
        envelope.mail_from = address
        envelope.mail_options.extend(options)
        return "250 ok"

    async def handle_RCPT(
        self, server: Any, session: Any, envelope: Any, address: str, options: list[str]
    ) -> str:
        if address in self.refused:
            return self.refused[address]
        envelope.rcpt_tos.append(address)
        return "250 ok"

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        answer = self.answers.pop(0) if self.answers else TAKEN
        if answer.startswith("250"):
            self.envelopes.append(envelope)
            if self.on_taken is not None:
                self.on_taken()
        return answer

    @property
    def messages(self) -> list[EmailMessage]:
        """The messages taken, oldest first."""
        parser: Any = BytesParser(policy=default)
        return [parser.parsebytes(envelope.original_content) for envelope in self.envelopes]


@contextmanager
def mail_server(mailbox: Mailbox, port: int = 0, **options: Any) -> Iterator[int]:
    """A server on loopback; gives its port."""
    number = port or free_port()
    controller: Any = Controller(mailbox, hostname="127.0.0.1", port=number, **options)
    controller.start()
    try:
        yield number
    finally:
        controller.stop()


@contextmanager
def scripted_server(play: Callable[[socket.socket], object]) -> Iterator[int]:
    """A server that does with each connection what ``play`` does."""
    listener = socket.create_server(("127.0.0.1", 0))
    stopping = threading.Event()

    def serve() -> None:
        while not stopping.is_set():
            with suppress(OSError):
                connection, _ = listener.accept()
                with connection:
                    connection.settimeout(10)
                    play(connection)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield int(listener.getsockname()[1])
    finally:
        stopping.set()
        with suppress(OSError):
            socket.create_connection(listener.getsockname(), timeout=1).close()
        thread.join(5)
        listener.close()


def converse(connection: socket.socket, *, until: bytes) -> bytes:
    """Answer as a server does until the client has sent ``until``; returns the last it sent."""
    connection.sendall(b"220 test\r\n")
    heard = b""
    with connection.makefile("rb") as lines:
        for line in lines:
            heard += line
            command = line[:4].upper()
            if heard.endswith(until):
                return heard
            if command in (b"EHLO", b"MAIL", b"RCPT", b"RSET"):
                connection.sendall(b"250 ok\r\n")
            elif command == b"DATA":
                connection.sendall(b"354 go on\r\n")
    return heard

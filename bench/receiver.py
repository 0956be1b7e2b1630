"""A receiver of webhooks in a process of its own: counts what arrives, and hangs where told to.

Paths: ``/hook/NAME`` takes a message; ``/late/NAME`` answers a little later; ``/slow/NAME`` takes
it and says nothing until ``/repair`` was asked for. ``/stats`` tells how many messages arrived, how
many of them differ and how many were answered, by name; ``/counts`` how often each was answered.
"""

from __future__ import annotations

import asyncio
import multiprocessing
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any
from urllib.request import urlopen

import orjson

LATE_SECONDS = 0.05


@dataclass
class Book:
    """What arrived."""

    arrived: Counter[str] = field(default_factory=Counter)
    answered: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    repaired: asyncio.Event = field(default_factory=asyncio.Event)

    def stats(self) -> dict[str, Any]:
        return {
            name: {
                "arrived": self.arrived[name],
                "answered": ids.total(),
                "different": len(ids),
            }
            for name, ids in sorted(self.answered.items())
        }


class Protocol(asyncio.Protocol):
    """Enough of HTTP/1.1 for requests with a Content-Length."""

    def __init__(self, book: Book) -> None:
        self._book = book
        self._buffer = b""
        self._transport: Any = None

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while (end := self._buffer.find(b"\r\n\r\n")) >= 0:
            head = self._buffer[:end].decode("latin-1").split("\r\n")
            headers = {
                name.lower(): value.strip()
                for name, _, value in (line.partition(":") for line in head[1:])
            }
            whole = end + 4 + int(headers.get("content-length", 0))
            if len(self._buffer) < whole:
                return
            self._buffer = self._buffer[whole:]
            self._take(head[0].split(" ")[1], headers)

    def _take(self, path: str, headers: dict[str, str]) -> None:
        _, kind, *rest = path.split("/")
        if kind == "stats":
            self._answer(orjson.dumps(self._book.stats()))
        elif kind == "counts":
            self._answer(orjson.dumps(self._book.answered))
        elif kind == "repair":
            self._book.repaired.set()
            self._answer(b"{}")
        else:
            self._book.arrived[rest[0]] += 1
            if kind == "slow" and not self._book.repaired.is_set():
                self._book.answered[rest[0]].update(())
                return
            self._book.answered[rest[0]][headers["webhook-id"]] += 1
            if kind == "late":
                asyncio.get_running_loop().call_later(LATE_SECONDS, self._answer, b"ok")
            else:
                self._answer(b"ok")

    def _answer(self, body: bytes) -> None:
        self._transport.write(
            b"HTTP/1.1 200 OK\r\nContent-Length: " + str(len(body)).encode() + b"\r\n\r\n" + body
        )


class ReceiverProcess:
    """The receiver, running; ``url`` is where."""

    def __init__(self, address: str = "127.0.0.1") -> None:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, address), daemon=True)
        self._process.start()
        self.url = f"http://{address}:{ours.recv()}"

    def ask(self, path: str) -> Any:
        """The answer to ``/stats``, ``/counts`` or ``/repair``."""
        with urlopen(f"{self.url}/{path}", timeout=30) as answer:
            return orjson.loads(answer.read())

    def stop(self) -> None:
        """End it."""
        self._process.terminate()
        self._process.join()


def _serve(pipe: Connection, address: str) -> None:
    async def run() -> None:
        book = Book()
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: Protocol(book), address, 0, backlog=1024)
        pipe.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(run())

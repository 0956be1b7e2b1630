"""PostgreSQL: a limit wherever a request could wait; a silent server is noticed (docs/adr/0004)."""

from __future__ import annotations

import os
import select
import socket
import threading
import time
from contextlib import suppress
from typing import Any

import psycopg
import structlog
from psycopg import OperationalError
from psycopg.types.json import JsonLoader
from psycopg.types.string import TextLoader
from sqlalchemy import URL, Connection, Engine, event
from sqlalchemy.exc import DisconnectionError

# An idle connection is asked for a sign of life only after this long.
PING_AFTER_SECONDS = 30
SESSION_SETTINGS = {
    "statement_timeout": "30s",
    "lock_timeout": "5s",
    "idle_in_transaction_session_timeout": "60s",
    "timezone": "UTC",
    # Compiling a query to machine code costs more than any of ours takes.
    "jit": "off",
}


# How a transaction begins whose reads all see one state.
STEADY = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"


def options(url: URL, *, reading: bool) -> dict[str, Any]:
    """What the engine is made with."""
    settings = dict(SESSION_SETTINGS)
    if reading:
        settings["default_transaction_read_only"] = "on"
    connect: dict[str, Any] = {
        "connect_timeout": 3,
        "keepalives_idle": 30,
        "tcp_user_timeout": 10_000,
        "application_name": "business-platform",
    }
    # An operator whose pooler takes no start-up options gives ``options`` in the URL, or none.
    if "options" not in url.query:
        connect["options"] = " ".join(f"-c {name}={value}" for name, value in settings.items())
    pool: dict[str, Any] = {"pool_size": 4, "max_overflow": 12, "pool_timeout": 3}
    return {"url": url, "connect_args": connect, **pool, "pool_use_lifo": True}


def listen(engine: Engine, *, reading: bool) -> None:
    """Prepare every connection of ``engine``, and notice those that the server has closed."""
    watch = Watch(engine)

    @event.listens_for(engine, "do_connect")
    def connect(dialect: Any, record: Any, words: Any, options: Any) -> None:
        if watch.is_silent:
            raise OperationalError("the server is silent")

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, record: Any) -> None:
        # JSON as the text that it is: nothing is parsed that is only handed on.
        connection.adapters.register_loader("json", TextLoader)
        if backend_pid_of(connection) != connection.info.backend_pid:
            connection.prepare_threshold = None

    @event.listens_for(engine, "do_execute")
    def execute(cursor: Any, sql: str, parameters: Any, context: Any) -> bool:
        """Statements whose values decide the way are planned each time."""
        if context.execution_options.get("prepare", True):
            return False
        cursor.execute(sql, parameters, prepare=False)
        return True

    @event.listens_for(engine, "checkin")
    def remember(connection: Any, record: Any) -> None:
        watch.note_returned(connection)
        record.info["idle_since"] = time.monotonic()

    for ending in ("invalidate", "detach", "close"):
        event.listen(engine, ending, lambda connection, *_: watch.note_returned(connection))

    @event.listens_for(engine, "checkout")
    def refuse_dead(connection: Any, record: Any, proxy: Any) -> None:
        """A ping costs a round trip; a closed socket shows itself for two microseconds."""
        idle_since = record.info.pop("idle_since", None)
        if idle_since is None:
            watch.note_taken(connection)
            return
        if watch.is_silent or _has_news(connection.pgconn.socket):
            raise DisconnectionError("the server has closed the connection")
        if time.monotonic() - idle_since > PING_AFTER_SECONDS and not _ping(engine, connection):
            raise DisconnectionError("the server does not answer")
        watch.note_taken(connection)


def read_catalogue(connection: Connection) -> None:
    """Take ``connection`` out of the pool for a look at the schema.

    SQLAlchemy wants the JSON of the catalogue parsed, where all others want it as text.
    """
    driver: Any = connection.connection.driver_connection
    driver.adapters.register_loader("json", JsonLoader)
    connection.detach()


def backend_pid_of(connection: Any) -> int:
    """The server process that really answers: a pooler such as PgBouncer tells the client another.

    Behind one, the next transaction may meet a process that never saw the prepared statement.
    """
    before = connection.autocommit
    connection.autocommit = True
    row = connection.execute("SELECT pg_backend_pid()").fetchone()
    connection.autocommit = before
    return int(row[0])


def _has_news(socket: int) -> bool:
    """Whether something waits on an idle connection: the server's goodbye, or its end."""
    poll = select.poll()
    poll.register(socket, select.POLLIN)
    return bool(poll.poll(0))


def _ping(engine: Engine, connection: Any) -> bool:
    try:
        return bool(engine.dialect.do_ping(connection))
    except engine.dialect.loaded_dbapi.Error:
        return False


LOOK_EVERY_SECONDS = 0.5
# Most connections come back within milliseconds. A slow statement costs a probe now and then.
SUSPICIOUS_SECONDS = 2.0
PROBE_EVERY_SECONDS = 2.0
# A machine with far too much to do takes two seconds for a new connection, and still answers.
ANSWER_SECONDS = 4
# Without connections in use the thread ends after this long.
IDLE_SECONDS = 10.0

_log = structlog.get_logger(__name__)


class Watch:
    """Looks after the connections of one engine that are in use.

    A machine that swaps, a network that swallows packets, a stopped process: the sockets stay open,
    and a thread that waits for an answer waits for ever. While connections are in use, a thread
    looks after them: when one of them has been out for a while, the server is asked for a new
    connection; if it does not answer that, those that wait are cut off and new ones refused until
    it does (docs/adr/0004).
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._taken: dict[int, tuple[Any, float]] = {}
        self._guard = threading.Lock()
        self._runs = False
        self.is_silent = False

    def note_taken(self, connection: Any) -> None:
        """A connection of the driver is in use from now on."""
        self._taken[id(connection)] = (connection, time.monotonic())
        if not self._runs:
            self._start()

    def note_returned(self, connection: Any) -> None:
        """It is no longer."""
        self._taken.pop(id(connection), None)

    def _start(self) -> None:
        with self._guard:
            if not self._runs:
                self._runs = True
                threading.Thread(target=self._run, name="database-watch", daemon=True).start()

    def _run(self) -> None:
        pause = threading.Event()
        used_at, probed_at = time.monotonic(), 0.0
        while self.is_silent or time.monotonic() - used_at < IDLE_SECONDS:
            pause.wait(LOOK_EVERY_SECONDS)
            now = time.monotonic()
            if self._taken:
                used_at = now
            if not self.is_silent and not self._waiting_since(now - SUSPICIOUS_SECONDS):
                continue
            if self.is_silent or now - probed_at >= PROBE_EVERY_SECONDS:
                probed_at = now
                self._judge(self._answers())
        with self._guard:
            self._runs = False

    def _waiting_since(self, instant: float) -> list[Any]:
        return [connection for connection, since in list(self._taken.values()) if since < instant]

    def _judge(self, answers: bool) -> None:
        if answers == self.is_silent:
            self.is_silent = not answers
            _log.warning("the database answers again" if answers else "the database is silent")
        if not answers:
            for connection in self._waiting_since(time.monotonic() - SUSPICIOUS_SECONDS):
                _cut(connection)

    def _answers(self) -> bool:
        """Whether the server says anything to somebody new; a refusal is an answer."""
        words, options = self._engine.dialect.create_connect_args(self._engine.url)
        try:
            psycopg.connect(*words, **{**options, "connect_timeout": ANSWER_SECONDS}).close()
        except psycopg.errors.ConnectionTimeout:
            return False
        except psycopg.Error:
            return True
        return True


def _cut(connection: Any) -> None:
    """End a connection from outside: who waits for it is told at once."""
    # A copy: closing it leaves the driver's own descriptor to the driver.
    with (
        suppress(OSError, psycopg.Error),
        socket.socket(fileno=os.dup(connection.pgconn.socket)) as copy,
    ):
        copy.shutdown(socket.SHUT_RDWR)

"""Structured logs: one line an event, with the request's id and without secrets.

Lines are JSON in production; on a console they are for people. In both, control characters of
foreign text are escaped, so that no caller writes lines of our log.
"""

from __future__ import annotations

import logging
import os
import re
import sys
from collections.abc import Callable, MutableMapping
from contextlib import suppress
from functools import partial
from typing import Any

import orjson
import structlog
from sqlalchemy.exc import SQLAlchemyError
from structlog.typing import Processor

from app.clock import utc_now
from app.config import Config
from app.db.outages import problem_for_operator
from app.extensions import Extension
from app.http.request_context import current_request_id

_SECRET_NAMES = re.compile(
    r"password|passwd|secret|token|authorization|api_?key$|^key$|cookie|credential", re.IGNORECASE
)
# Tokens and keys inside other text, such as the message of an exception.
_SECRET_TEXTS = re.compile(
    r"bpk_live_[0-9A-Za-z_]+|bpr_[\w-]{20,}|whsec_\S+|eyJ[\w-]+\.[\w-]+\.[\w-]*|(?<=://)[^/\s:@]*:[^/\s@]*(?=@)"
)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")

Event = MutableMapping[str, Any]


def configure(config: Config) -> None:
    """Send every log of the process, those of libraries too, through our processors."""
    shared = _shared()
    structlog.configure(
        processors=[*shared, _renderer(config)],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        # Whatever standard error is when a line is written, not what it was at the start.
        logger_factory=lambda *args: _Lines(sys.stderr),
        cache_logger_on_first_use=False,
    )
    handler = _StandardError()
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                _renderer(config),
            ],
            foreign_pre_chain=shared,
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.WARNING)


class _Lines(structlog.WriteLogger):
    """Writes lines; one that cannot be written, on a full disk, say, stops nobody's work."""

    def msg(self, message: str) -> None:
        with suppress(OSError):
            super().msg(message)

    log = debug = info = warn = warning = msg
    error = err = exception = failure = fatal = critical = msg


class _StandardError(logging.StreamHandler):  # type: ignore[type-arg]
    """Writes to whatever standard error is at that time."""

    def emit(self, record: logging.LogRecord) -> None:
        self.stream = sys.stderr
        super().emit(record)


class RequestLog:
    """One line a request to standard output.

    Every request writes one, so it goes no way through processors: what is foreign in it, method
    and address, is escaped here, and the rest is ours.
    """

    def __init__(self, config: Config, write: Callable[[bytes], object] | None = None) -> None:
        # One system call a line: lines of several threads and processes do not mix.
        self.write_line = write or partial(
            os.write, sys.__stdout__.fileno() if sys.__stdout__ else 1
        )
        self._is_json = config.LOG_FORMAT == "json"

    def write(
        self,
        request_id: str,
        principal: str | None,
        method: str,
        route: str,
        status: int,
        milliseconds: float,
    ) -> None:
        """Write the line of one request; ``route`` has no query."""
        if not (route.isascii() and route.isprintable()):
            # PEP 3333: each byte of the address as one character.
            route = escape(route.encode("latin-1", "replace").decode("utf-8", "replace"))
        if self._is_json:
            event = {
                "timestamp": utc_now(),
                "level": "info",
                "event": "request",
                "request_id": request_id,
                "principal": principal,
                "method": method if method.isalpha() else escape(method),
                "route": route,
                "status": status,
                "ms": round(milliseconds, 2),
            }
            line = orjson.dumps(event, option=orjson.OPT_UTC_Z | orjson.OPT_APPEND_NEWLINE)
        else:
            text = (
                f"{utc_now():%H:%M:%S} {status} {escape(method)} {route} {principal or '-'}"
                f" {milliseconds:.1f} ms {request_id}"
            )
            line = text.encode() + b"\n"
        # A full disk or a closed pipe is no reason to fail a request.
        try:  # noqa: SIM105  # what suppresses errors costs more than the line
            self.write_line(line)
        except OSError:
            pass


request_log = Extension[RequestLog]("request_log")


def _shared() -> list[Processor]:
    return [
        add_request_id,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        brief_on_outages,
        structlog.processors.format_exc_info,
        redact,
        escape_control,
    ]


def _renderer(config: Config) -> Processor:
    if config.LOG_FORMAT == "json":
        return structlog.processors.JSONRenderer(serializer=_json)
    return structlog.dev.ConsoleRenderer(colors=False)


def _json(event: Any, default: Any, **options: Any) -> str:
    return orjson.dumps(event, default=default).decode()


def add_request_id(logger: Any, method: str, event: Event) -> Event:
    """Name the request during which the line was written."""
    if "request_id" not in event and (request_id := current_request_id()):
        event["request_id"] = request_id
    return event


def brief_on_outages(logger: Any, method: str, event: Event) -> Event:
    """Where a database cannot be used, say why in place of where: every loop meets it anew."""
    error = event.get("exc_info")  # as logging and structlog take it: an error, a triple, or True
    if isinstance(error, tuple):
        error = error[1]
    elif error is True:
        error = sys.exc_info()[1]
    if isinstance(error, SQLAlchemyError) and (problem := problem_for_operator(error)):
        del event["exc_info"]
        event["reason"] = problem
    return event


def redact(logger: Any, method: str, event: Event) -> Event:
    """Take passwords, tokens and keys out, by the name of the value and by the look of the text."""
    for name, value in event.items():
        if _SECRET_NAMES.search(name):
            event[name] = "***"
        elif isinstance(value, str):
            event[name] = _SECRET_TEXTS.sub("***", value)
    return event


def escape(text: str) -> str:
    """``text`` with line breaks and other control characters as ``\\x0a``."""
    return _CONTROL.sub(lambda match: f"\\x{ord(match[0]):02x}", text)


def escape_control(logger: Any, method: str, event: Event) -> Event:
    """Write line breaks and other control characters as escapes; a traceback keeps its lines."""
    for name, value in event.items():
        if isinstance(value, str) and name != "exception":
            event[name] = escape(value)
    return event

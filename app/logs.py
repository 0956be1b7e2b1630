"""Structured logs: one line an event, with the request's id and without secrets.

Lines are JSON in production; on a console they are for people. In both, control characters of
foreign text are escaped, so that no caller writes lines of our log.
"""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import MutableMapping
from typing import Any, TextIO

import orjson
import structlog
from structlog.typing import FilteringBoundLogger, Processor

from app.config import Config
from app.request_context import current_request_id

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
        logger_factory=structlog.WriteLoggerFactory(sys.stderr),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(sys.stderr)
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


def request_logger(config: Config, stream: TextIO | None = None) -> FilteringBoundLogger:
    """The logger of request lines; its values are ours or cleaned, so its processors are few."""
    factory = structlog.WriteLoggerFactory(stream or sys.stdout)
    return structlog.wrap_logger(  # type: ignore[no-any-return]
        factory(),
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            escape_control,
            _renderer(config),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
    ).bind()


def _shared() -> list[Processor]:
    return [
        add_request_id,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
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


def redact(logger: Any, method: str, event: Event) -> Event:
    """Take passwords, tokens and keys out, by the name of the value and by the look of the text."""
    for name, value in event.items():
        if _SECRET_NAMES.search(name):
            event[name] = "***"
        elif isinstance(value, str):
            event[name] = _SECRET_TEXTS.sub("***", value)
    return event


def escape_control(logger: Any, method: str, event: Event) -> Event:
    """Write line breaks and other control characters as escapes; a traceback keeps its lines."""
    for name, value in event.items():
        if isinstance(value, str) and name != "exception" and _CONTROL.search(value):
            event[name] = _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", value)
    return event

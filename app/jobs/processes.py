"""A process beside this one that does what is heavy and rarely wanted, and ends when nobody asks.

What draws documents holds fonts, shaping and schemas; a web process that loaded them would keep
them for good (docs/adr/0007). It is a new program, so it neither copies threads nor knows secrets:
``python -m app.jobs.processes IDLE_SECONDS``. A call is JSON: the name of a function and its
arguments, plain values, dates, exact decimals, bytes and dataclasses of this program. The answer
is bytes, for what reads pictures and fonts of strangers is not to be trusted with more.
"""

from __future__ import annotations

import atexit
import base64
import dataclasses
import json
import os
import select
import signal
import struct
import subprocess
import sys
import threading
import time
import traceback
from datetime import date
from decimal import Decimal
from pathlib import Path
from pkgutil import resolve_name
from typing import IO, Any

import structlog

from app.errors import ServiceUnavailableError

_log = structlog.get_logger(__name__)
SECONDS = 30.0
IDLE_SECONDS = 60.0
_ROOT = Path(__file__).parents[2]
_KEPT = ("PATH", "LANG", "LC_ALL", "TZ", "PYTHONPATH")
# Before an answer: whether the function succeeded, and how many bytes follow.
_HEAD = struct.Struct(">?I")
# Before a call: how many bytes follow.
_LENGTH = struct.Struct(">I")
# How a value that JSON does not know is marked.
_DECIMAL, _DATE, _BYTES, _OBJECT = "$decimal", "$date", "$bytes", "$object"
_OURS = "app."


class ChildProcess:
    """Calls of functions in a process of their own, one after another; started by the first."""

    def __init__(self, *, seconds: float = SECONDS, idle_seconds: float = IDLE_SECONDS) -> None:
        """``seconds``: the longest wait for the calls before, and the longest call."""
        self.seconds = seconds
        self._idle_seconds = idle_seconds
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def process_id(self) -> int | None:
        """The process that runs, or ran last; None before the first call."""
        return self._process.pid if self._process is not None else None

    def call(self, function: str, *arguments: object) -> bytes:
        """What a function answers; it depends on its arguments alone, for it may be called twice.

        Args:
            function: ``module:name``, a function that returns bytes, or None for none.
            arguments: as the head of this module says; tuples come as lists, but in dataclasses.
        Raises: TypeError, an argument is something else; FunctionFailedError, the function failed;
            ServiceUnavailableError, it took too long, as did the calls before it, or the process
            cannot be started or died twice.
        """
        content = json.dumps((function, arguments), default=_marked, separators=(",", ":")).encode()
        request = _LENGTH.pack(len(content)) + content
        if not self._lock.acquire(timeout=self.seconds):
            raise ServiceUnavailableError("Too much is being drawn: try again in a moment.")
        try:
            try:
                is_done, answer = self._exchange(request)
            except _LostError:  # it was idle for long enough, or something ended it
                is_done, answer = self._exchange(request)
        except (_LostError, OSError) as error:
            _log.warning("nothing can be drawn", reason=str(error) or "its process ended twice")
            raise ServiceUnavailableError("Nothing can be drawn now.") from error
        finally:
            self._lock.release()
        if not is_done:
            raise FunctionFailedError(answer.decode())
        return answer

    def stop(self) -> None:
        """End the process; the next call starts another."""
        with self._lock:
            self._end()

    def _exchange(self, request: bytes) -> tuple[bool, bytes]:
        process = self._running()
        assert process.stdin is not None and process.stdout is not None
        began = time.monotonic()
        # It ends a process that is stuck, whichever of the two pipes that holds up.
        watch = threading.Timer(self.seconds, process.kill)
        watch.daemon = True
        watch.start()
        try:
            process.stdin.write(request)
            process.stdin.flush()
            is_done, length = _HEAD.unpack(_read(process.stdout, _HEAD.size))
            return is_done, _read(process.stdout, length)
        except (EOFError, OSError) as error:
            self._end()
            if time.monotonic() - began >= self.seconds:
                raise TimeoutError(f"no answer within {self.seconds} seconds") from error
            raise _LostError from error
        finally:
            watch.cancel()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            atexit.unregister(self.stop)
            atexit.register(self.stop)
        elif self._process.poll() is None:
            return self._process
        self._end()
        command = [sys.executable, "-m", "app.jobs.processes", str(self._idle_seconds)]
        environment = {name: os.environ[name] for name in _KEPT if name in os.environ}
        self._process = subprocess.Popen(
            command, cwd=_ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        # One that ends by itself is asked after, or the system would keep its number for it.
        threading.Thread(target=self._process.wait, daemon=True).start()
        return self._process

    def _end(self) -> None:
        if self._process is None:
            return
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()
        try:
            self._process.stdin.close()
        except OSError:  # what was not sent to a process that is gone
            return


class FunctionFailedError(RuntimeError):
    """A function failed over there; the text is its traceback."""


class _LostError(Exception):
    """The process ended before it had answered."""


def _read(stream: IO[bytes], count: int) -> bytes:
    content = stream.read(count)
    if len(content) < count:
        raise EOFError
    return content


def _marked(value: object) -> dict[str, Any]:
    if isinstance(value, Decimal):
        return {_DECIMAL: str(value)}
    if isinstance(value, bytes):
        return {_BYTES: base64.b64encode(value).decode()}
    if type(value) is date:
        return {_DATE: value.isoformat()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        return {_OBJECT: f"{type(value).__module__}:{type(value).__qualname__}", "fields": fields}
    raise TypeError(f"{type(value).__name__} cannot be sent")


def _unmarked(member: dict[str, Any]) -> Any:
    match member:
        case {"$decimal": text}:
            return Decimal(text)
        case {"$bytes": text}:
            return base64.b64decode(text)
        case {"$date": text}:
            return date.fromisoformat(text)
        case {"$object": name, "fields": fields}:
            type_ = resolve_name(name) if name.startswith(_OURS) else None
            if not (isinstance(type_, type) and dataclasses.is_dataclass(type_)):
                raise ValueError(f"{name} is no dataclass of this program")
            return type_(**{key: tuple(value) if isinstance(value, list) else value
                            for key, value in fields.items()})  # fmt: skip
    return member


def serve(idle_seconds: float) -> None:
    """Answer the calls on the standard input, until that is closed or none comes for so long.

    The end of the process that started this one closes it, however that came about.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for who waits for the answer
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no answer
    # Each call waits for the answer to the one before it, so none lies unseen in the buffer.
    while select.select([requests], [], [], idle_seconds)[0]:
        try:
            (length,) = _LENGTH.unpack(_read(requests, _LENGTH.size))
            function, arguments = json.loads(_read(requests, length), object_hook=_unmarked)
        except EOFError:
            return
        is_done, answer = _called(function, arguments)
        answers.writelines((_HEAD.pack(is_done, len(answer)), answer))
        answers.flush()


def _called(function: str, arguments: list[Any]) -> tuple[bool, bytes]:
    try:
        answer = resolve_name(function)(*arguments)
        if answer is None:
            return True, b""
        if not isinstance(answer, bytes):
            raise TypeError(f"{function} answers with {type(answer).__name__}, not bytes")
        return True, answer
    except Exception:
        return False, traceback.format_exc().encode("utf-8", "backslashreplace")


if __name__ == "__main__":
    try:
        serve(float(sys.argv[1]))
    except BrokenPipeError:  # nobody waits for the answer any more
        os._exit(0)

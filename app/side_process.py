"""A process beside this one that does what is heavy and rarely wanted, and ends when nobody asks.

What draws documents holds fonts, shaping and schemas; a web process that loaded them would keep
them for good (docs/adr/0127). It is a new program, so it neither copies threads nor knows secrets.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from app.errors import ServiceUnavailableError
from app.side_messages import read_message, write_message

SECONDS = 30.0
IDLE_SECONDS = 60.0
_ROOT = Path(__file__).parents[1]
_KEPT = ("PATH", "LANG", "LC_ALL", "TZ", "PYTHONPATH")


class SideProcess:
    """Calls of functions in a process of their own, one after another; started by the first."""

    def __init__(self, *, seconds: float = SECONDS, idle_seconds: float = IDLE_SECONDS) -> None:
        """``seconds``: the longest wait for a turn, and the longest call."""
        self._seconds = seconds
        self._idle_seconds = idle_seconds
        self._turn = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def process_id(self) -> int | None:
        """The process that runs, or ran last; None before the first call."""
        return self._process.pid if self._process is not None else None

    def call(self, function: str, *arguments: Any) -> Any:
        """What a function answers; it depends on its arguments alone, for it may be called twice.

        Args:
            function: ``module:name``, a function of ours.
            arguments: what app/side_messages.py can send; so must be what is answered.
        Raises: SideProcessError, the function failed; ServiceUnavailableError, it took too long,
            its turn did not come, or the process cannot be started or died of it twice.
        """
        if not self._turn.acquire(timeout=self._seconds):
            raise ServiceUnavailableError("Too much is being drawn: try again in a moment.")
        try:
            try:
                is_done, answer = self._exchange((function, arguments))
            except _LostError:  # it was idle for long enough, or something ended it
                is_done, answer = self._exchange((function, arguments))
        except (_LostError, OSError) as error:
            raise ServiceUnavailableError("Nothing can be drawn now.") from error
        finally:
            self._turn.release()
        if not is_done:
            raise SideProcessError(answer)
        return answer

    def stop(self) -> None:
        """End the process; the next call starts another."""
        with self._turn:
            self._end()

    def _exchange(self, request: object) -> tuple[bool, Any]:
        process = self._running()
        assert process.stdin is not None and process.stdout is not None
        began = time.monotonic()
        # It ends a process that is stuck, whichever of the two pipes that holds up.
        watch = threading.Timer(self._seconds, process.kill)
        watch.daemon = True
        watch.start()
        try:
            write_message(process.stdin, request)
            is_done, answer = read_message(process.stdout)
        except (EOFError, OSError, ValueError) as error:
            self._end()
            if time.monotonic() - began >= self._seconds:
                raise TimeoutError(f"no answer within {self._seconds} seconds") from error
            raise _LostError from error
        finally:
            watch.cancel()
        return is_done, answer

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            atexit.unregister(self.stop)
            atexit.register(self.stop)
        elif self._process.poll() is None:
            return self._process
        self._end()
        command = [sys.executable, "-m", "app.side_process_main", str(self._idle_seconds)]
        given = {name: os.environ[name] for name in _KEPT if name in os.environ}
        self._process = subprocess.Popen(
            command, cwd=_ROOT, env=given, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
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


class SideProcessError(RuntimeError):
    """A function failed over there; the text is its traceback."""


class _LostError(Exception):
    """The process ended before it had answered."""

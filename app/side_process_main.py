"""``python -m app.side_process_main IDLE_SECONDS``: the process of app/side_process.py.

It answers calls that arrive on its standard input until that is closed, which the end of the
process that started it does as well, or until none has come for so long.
"""

from __future__ import annotations

import importlib
import os
import select
import signal
import sys
import traceback
from typing import Any

from app.side_messages import read_message, write_message


def main(idle_seconds: float) -> None:
    """Answer each call with whether it succeeded, and its value or its traceback."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for who waits for the answer
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no answer
    # Each call waits for the answer to the one before it, so none lies unseen in the buffer.
    while select.select([requests], [], [], idle_seconds)[0]:
        try:
            function, arguments = read_message(requests, with_objects=True)
        except EOFError:
            return
        write_message(answers, _called(function, arguments))


def _called(function: str, arguments: list[Any]) -> tuple[bool, Any]:
    module, _, name = function.partition(":")
    try:
        return True, getattr(importlib.import_module(module), name)(*arguments)
    except Exception:
        return False, traceback.format_exc()


if __name__ == "__main__":
    try:
        main(float(sys.argv[1]))
    except BrokenPipeError:  # nobody waits for the answer any more
        os._exit(0)

"""gunicorn on a host whose clock jumps: ``python -m tests.faults.skewed FILE [options]``.

FILE says by how many seconds the clock of the wall is wrong, and may be changed at any time. The
monotonic clock goes on, as it does where a clock is set.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path

import time_machine
from gunicorn.app.wsgiapp import run

LOOK_EVERY_SECONDS = 0.2


def follow(file: Path) -> None:
    """Set the clock of this process as ``file`` says, for ever."""
    wrong_by, travel = 0.0, None
    pause = threading.Event()
    while not pause.wait(LOOK_EVERY_SECONDS):
        wanted = float(file.read_text() or 0)
        if wanted == wrong_by:
            continue
        if travel is not None:
            travel.stop()
        wrong_by, travel = wanted, None
        if wanted:
            travel = time_machine.travel(time.time() + wanted, tick=True)
            travel.start()


def main() -> None:
    """Run gunicorn; each of its processes follows the file."""
    file = Path(sys.argv.pop(1))

    def begin() -> None:
        threading.Thread(target=follow, args=(file,), daemon=True).start()

    os.register_at_fork(after_in_child=begin)
    run()


if __name__ == "__main__":
    main()

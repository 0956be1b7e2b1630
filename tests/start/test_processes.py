"""The supervisor of web and worker."""

from __future__ import annotations

import io
import os
import signal

from honcho.printer import Printer

from app.start.processes import Supervisor


class _Interrupted(io.StringIO):
    """Output in whose midst a signal comes, once, and which then writes for nobody else."""

    def __init__(self) -> None:
        super().__init__()
        self.is_writing = False
        self.signals = 1

    def write(self, text: str) -> int:
        if self.is_writing:
            raise RuntimeError("reentrant call inside <_io.BufferedWriter name='<stdout>'>")
        self.is_writing = True
        try:
            if "a line" in text and self.signals:
                self.signals -= 1
                os.kill(os.getpid(), signal.SIGTERM)
            return super().write(text)
        finally:
            self.is_writing = False


def test_a_signal_in_the_middle_of_a_line_ends_all() -> None:
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    output = _Interrupted()
    supervisor = Supervisor(printer=Printer(output=output))
    supervisor.add_process("talker", "while true; do echo a line; sleep 0.1; done")
    try:
        supervisor.loop()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    assert output.signals == 0
    assert supervisor.returncode == 143
    assert "talker stopped" in output.getvalue()

"""Watches what the whole run writes to its logs: no secret that was issued is in there.

Every test's output is read, of the processes of pytest-xdist too: whatever tests issue at random is
noted where it is made, everything else is known by its look. The run fails when one is found.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator
from typing import Any

import pytest

# How long the random values are that nobody but their owner may know: refresh tokens and public
# links, and passwords that were made up for somebody.
_SECRET_BYTES = (15, 32)
_LOOKS = re.compile(
    r"eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{20,}|bpk_live_\w{40,}|bpr_[\w-]{30,}|whsec_[\w+/=]{24,}"
    r"|\$argon2id\$|Basic [A-Za-z0-9+/=]{60,}"
)
_PASSWORDS = ("correct horse battery staple", "blue harbour 12", "three-blue-kettles")
_WORD = re.compile(r"[\w-]{16,}")
_OUTPUT = ("Captured stdout", "Captured stderr", "Captured log")
_ISSUED = "issued_secrets"


class SecretWatch:
    """A plugin of pytest."""

    def __init__(self) -> None:
        self._issued: set[str] = set()
        self._in_this_test: list[str] = []
        self._words: dict[str, str] = {}
        self.found: list[str] = []

    def watch(self) -> None:
        """Note what ``secrets`` makes from now on."""
        make = secrets.token_urlsafe

        def noted(nbytes: int | None = None) -> str:
            value = make(nbytes)
            if nbytes in _SECRET_BYTES:
                self._in_this_test.append(value)
            return value

        secrets.token_urlsafe = noted

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Iterator[None]:
        """Send along what was issued: reports are what a worker tells."""
        report: Any = yield
        report.user_properties.append((_ISSUED, self._in_this_test))
        self._in_this_test = []
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Read the output of a test; in a run of several processes, where they report to."""
        for name, value in report.user_properties:
            if name == _ISSUED:
                self._issued.update(value)  # type: ignore[arg-type]
        for title, text in report.sections:
            if not title.startswith(_OUTPUT):
                continue
            look = _LOOKS.search(text)
            if look is not None:
                self.found.append(f"{report.nodeid}: {look[0][:12]}...")
            self.found += [f"{report.nodeid}: a password" for one in _PASSWORDS if one in text]
            for word in _WORD.findall(text):
                self._words.setdefault(word, report.nodeid)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Fail the run where something was found."""
        for value in sorted(self._issued & self._words.keys()):
            self.found.append(f"{self._words[value]}: {value[:6]}..., which was issued at random")
        if self.found:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say what was found, and how much was read."""
        for line in dict.fromkeys(self.found):
            terminalreporter.write_line(f"SECRET IN THE LOG {line}", red=True)
        terminalreporter.write_line(
            f"logs: {len(self._words)} words read for {len(self._issued)} secrets and their looks,"
            f" {len(self.found)} found"
        )

"""Expectations: a section of the public suite, what it expects there, and the requests that try."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.suite.service import Service

CONFORMANCE = Path(__file__).parents[2] / "docs" / "conformance.md"

Check = Callable[[Service], object]


@dataclass(frozen=True)
class Expectation:
    """``check`` raises where the service does otherwise."""

    section: str
    text: str
    check: Check

    @property
    def name(self) -> str:
        """By what docs/conformance.md calls it."""
        return f"{self.section}: {self.text}"

    def failure(self, service: Service) -> str | None:
        """Why it is not met, on a model filled anew; None where it is."""
        service.reseed()
        try:
            self.check(service)
        except Exception as error:  # whatever it is, the expectation is not met
            return f"{type(error).__name__}: {error}"[:300] or "not met"
        return None


EXPECTATIONS: list[Expectation] = []


def expects(section: str, text: str) -> Callable[[Check], Check]:
    """Register a check."""

    def register(check: Check) -> Check:
        EXPECTATIONS.append(Expectation(section, text, check))
        return check

    return register


def expect_statuses(
    section: str, rows: Iterable[tuple[str, str, int | tuple[int, ...]]], **headers: str
) -> None:
    """Register requests, each by what it is (``GET /Products``) with the statuses it may have."""
    for text, request, statuses in rows:
        allowed = statuses if isinstance(statuses, tuple) else (statuses,)
        EXPECTATIONS.append(Expectation(section, text, _status_check(request, allowed, headers)))


def _status_check(request: str, allowed: tuple[int, ...], headers: Mapping[str, str]) -> Check:
    method, _, address = request.partition(" ")

    def check(service: Service) -> None:
        answer = service.send(method, service.filled(address), **headers)
        assert answer.status_code in allowed, f"{answer.status_code}: {answer.text[:150]}"
        if answer.status_code >= 400:
            assert_error(answer)

    return check


def assert_error(answer: Any, status: int | tuple[int, ...] = (), words: str = "") -> None:
    """Check that an answer is an error of OData, with these words in any case."""
    allowed = (status,) if isinstance(status, int) else status
    assert not allowed or answer.status_code in allowed, (
        f"{answer.status_code}: {answer.text[:150]}"
    )
    body = answer.json
    assert body.keys() == {"error"}, body.keys()
    error = body["error"]
    assert isinstance(error["code"], str) and error["code"]
    assert isinstance(error["message"], str) and error["message"]
    assert words.lower() in str(error).lower(), error


def argued() -> frozenset[str]:
    """The names of the expectations of which docs/conformance.md says why they are not met."""
    rows = re.findall(r"^\| `([^`]+: [^`]+)` \|", CONFORMANCE.read_text(), re.MULTILINE)
    return frozenset(rows)

"""The requirements: number, weight, what is asked for, and the function that tries it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from tests.conformance.service import Service

Check = Callable[[Service], None]
# MUST, SHOULD and MAY of the standard; SPEC of this product's own specification; CLIENT of what
# clients that others wrote rely on.
Weight = Literal["MUST", "SHOULD", "MAY", "SPEC", "CLIENT"]
LEVELS = {"MIN": "Minimal", "INT": "Intermediate", "ADV": "Advanced", "EXT": "Beyond the levels"}


@dataclass(frozen=True)
class Requirement:
    """One requirement; ``check`` raises AssertionError where it is not met."""

    number: str
    weight: Weight
    text: str
    check: Check

    @property
    def level(self) -> str:
        return LEVELS[self.number.partition("-")[0]]


REQUIREMENTS: dict[str, Requirement] = {}


def requirement(number: str, weight: Weight, text: str) -> Callable[[Check], Check]:
    """Register a function as the proof of a requirement."""

    def register(check: Check) -> Check:
        assert number not in REQUIREMENTS, number
        REQUIREMENTS[number] = Requirement(number, weight, text, check)
        return check

    return register


def failure(one: Requirement, service: Service) -> str | None:
    """Why a requirement is not met; None when it is."""
    try:
        one.check(service)
    except AssertionError as error:
        return str(error).strip().partition("\n")[0][:300] or "not met"
    except (KeyError, IndexError, TypeError, ValueError) as error:
        return f"{type(error).__name__}: {error}"[:300]
    finally:
        service.take_back_rows()
    return None

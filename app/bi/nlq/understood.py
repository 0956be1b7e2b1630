"""What was understood of a question."""

from __future__ import annotations

from dataclasses import dataclass

from app.bi.plans.plan import Plan


@dataclass(frozen=True)
class Understood:
    """``plans``: one, or several to choose from; ``unknown``: words that nothing was made of."""

    plans: tuple[Plan, ...] = ()
    unknown: tuple[str, ...] = ()
    reason: str | None = None
    choices: tuple[str, ...] = ()
    refused: bool = False
    near: str | None = None  # what may be asked instead of what is not offered
    is_two: bool = False  # questions; the choices are both of them
    settled: bool = False  # nothing else is to be made of it

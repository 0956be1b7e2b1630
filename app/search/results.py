"""What a search can go by, and a text that it finds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Mode = Literal["hybrid", "semantic", "keyword"]
MODES: tuple[Mode, ...] = ("hybrid", "semantic", "keyword")
# How much the best passage of a text counts, and how much all of it together.
BEST_PASSAGE, WHOLE_TEXT = 0.7, 0.3


@dataclass(frozen=True)
class Ranked:
    """A text that was found: ``score`` 0..1 orders them, ``nearness`` is -1..1."""

    key: int
    score: float
    nearness: float

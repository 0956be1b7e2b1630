"""What a kind of ticket is made of."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Topic:
    """A kind of ticket; ``article`` is the key of the article that answers it."""

    article: str
    type: str
    category: str
    priorities: str  # initials of Low, Normal, High, Urgent, as often as likely
    cases: tuple[tuple[str, str], ...]  # (subject, description)
    answers: tuple[str, ...]
    resolution: str
    language: str = "en"

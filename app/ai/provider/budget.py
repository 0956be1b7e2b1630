"""Tokens that a caller may use in a day, counted in the database for all processes together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import insert, select, update
from sqlalchemy.exc import IntegrityError

from app.ai.provider.errors import SPENT, ProviderError
from app.clock import utc_now
from app.db.engines import primary_engine
from app.extensions import db
from app.http.security import current_caller
from app.models.assistant import AiUsage
from app.settings.days import today

# Where the server does not count: English has some four characters a token.
CHARACTERS_A_TOKEN = 4


def require_budget(limit: int) -> None:
    """Let pass who has not used the budget of today up.

    Args:
        limit: tokens, read and written together; 0 for no limit.
    Raises: ProviderError.
    """
    if limit and used_today(current_caller().principal) >= limit:
        raise ProviderError(SPENT, is_fault=False)


def used_today(principal: str) -> int:
    """Tokens that a caller has used today."""
    statement = select(AiUsage.input_tokens + AiUsage.output_tokens).where(_row(principal))
    with primary_engine().connect() as connection:
        return int(connection.execute(statement).scalar() or 0)


def note_usage(read: int, written: int) -> None:
    """Add what one exchange has used; committed at once, whatever becomes of the answer.

    For callers without a transaction that writes: SQLite has one at a time.
    """
    principal = current_caller().principal
    add = (
        update(AiUsage)
        .where(_row(principal))
        .values(
            input_tokens=AiUsage.input_tokens + read,
            output_tokens=AiUsage.output_tokens + written,
            exchanges=AiUsage.exchanges + 1,
        )
    )
    first = {
        "created_at": utc_now(), "principal": principal, "day": today(),
        "input_tokens": read, "output_tokens": written, "exchanges": 1,
    }  # fmt: skip
    for _ in range(2):
        try:
            with db.engine.begin() as connection:
                if not connection.execute(add).rowcount:
                    connection.execute(insert(AiUsage), first)
            return
        except IntegrityError:  # another process made the row of the day a moment before
            continue


def estimated(texts: Sequence[str]) -> int:
    """About how many tokens texts are."""
    return sum(map(len, texts)) // CHARACTERS_A_TOKEN + 1


def _row(principal: str) -> Any:
    return (AiUsage.principal == principal) & (AiUsage.day == today())

"""What a link to a document allows, for whom it is, and when it ends."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from app.clock import utc_now
from app.errors import refuse_any

DEFAULT_DAYS = 7
MAXIMUM_DAYS = 365


@dataclass(frozen=True, kw_only=True)
class ShareTerms:
    """What a link allows, and for whom it is."""

    expires_at: datetime | None = None
    expires_in_days: int | None = None
    password: str | None = None
    max_downloads: int | None = None
    recipient_email: str | None = None
    note: str | None = None
    version: int | None = None

    @property
    def ends_at(self) -> datetime:
        """When it ends, counted from now where that is said in days."""
        days = DEFAULT_DAYS if self.expires_in_days is None else self.expires_in_days
        return self.expires_at or utc_now() + timedelta(days=days)


def check_expiry(terms: ShareTerms) -> None:
    """A link ends at an instant, or after some days.

    Raises: ValidationError, both are given, or the instant is past or too far away.
    """
    now, expires_at = utc_now(), terms.expires_at
    if expires_at is None:
        return
    problems = []
    if terms.expires_in_days is not None:
        problems.append(("expiresInDays", "is not given together with expiresAt"))
    if expires_at <= now:
        problems.append(("expiresAt", "must be in the future"))
    elif expires_at > now + timedelta(days=MAXIMUM_DAYS):
        problems.append(("expiresAt", f"must be within {MAXIMUM_DAYS} days"))
    refuse_any(problems)

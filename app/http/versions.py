"""The versions of the API, and what an answer says of its own (contract P1).

An older version is supported for at least 12 months after it is declared deprecated; start-up
refuses a registry that promises less.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time

from werkzeug.http import http_date

from app.config import ConfigError

MINIMUM_MONTHS = 12


@dataclass(frozen=True, slots=True)
class Version:
    """A version: current while ``deprecated_on`` is None; gone at ``sunset_on``."""

    name: str
    deprecated_on: date | None = None
    sunset_on: date | None = None

    def headers(self) -> list[tuple[str, str]]:
        """``API-Version``; for an old version ``Deprecation`` (RFC 9745), ``Sunset`` (RFC 8594)."""
        headers = [("API-Version", self.name)]
        if self.deprecated_on:
            headers.append(("Deprecation", f"@{int(_midnight(self.deprecated_on).timestamp())}"))
        if self.sunset_on:
            headers.append(("Sunset", http_date(_midnight(self.sunset_on))))
        return headers


# Newest last; the first is what an address without a version means.
VERSIONS = (Version("v1"),)


def check(versions: tuple[Version, ...]) -> None:
    """Refuse a sunset that comes too soon.

    Raises: ConfigError, naming the version.
    """
    for version in versions:
        if version.sunset_on is None:
            continue
        if version.deprecated_on is None:
            raise ConfigError(f"API {version.name} has a sunset but was never deprecated")
        if version.sunset_on < _months_later(version.deprecated_on, MINIMUM_MONTHS):
            raise ConfigError(
                f"API {version.name} must stay {MINIMUM_MONTHS} months after its deprecation on"
                f" {version.deprecated_on}; its sunset is {version.sunset_on}"
            )


def version_of(path: str, versions: tuple[Version, ...] = VERSIONS) -> Version:
    """The version that an address belongs to: ``/api/v1/...``, ``/odata/v1/...``, or none named."""
    parts = path.split("/", 3)
    if len(parts) > 2:
        for version in versions[1:]:
            if parts[2] == version.name:
                return version
    return versions[0]


def _months_later(day: date, months: int) -> date:
    years, month = divmod(day.month - 1 + months, 12)
    # The last of February has no anniversary every year; the first of March is never too early.
    if (day.month, day.day) == (2, 29) and (years, month + 1) != (0, 2):
        return date(day.year + years, 3, 1)
    return date(day.year + years, month + 1, day.day)


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time.min, UTC)

"""Versions of the API: what each says, and how long an old one stays."""

from __future__ import annotations

from datetime import date

import pytest

from app.config import ConfigError
from app.http.answer import VERSIONS, Version, check_versions, version_of

DEPRECATED = date(2026, 11, 21)


def test_a_current_version_says_its_name() -> None:
    assert Version("v1").headers() == [("API-Version", "v1")]


def test_an_old_one_says_since_when_and_until_when() -> None:
    assert Version("v1", DEPRECATED, date(2028, 1, 1)).headers() == [
        ("API-Version", "v1"),
        ("Deprecation", "@1795219200"),
        ("Sunset", "Sat, 01 Jan 2028 00:00:00 GMT"),
    ]


@pytest.mark.parametrize(
    ("deprecated", "sunset"),
    [
        (date(2026, 11, 21), date(2027, 11, 21)),
        (date(2026, 11, 21), date(2030, 1, 1)),
        (date(2028, 2, 29), date(2029, 3, 1)),
        (date(2026, 11, 21), None),
        (None, None),
    ],
)
def test_twelve_months_or_more_are_accepted(deprecated: date | None, sunset: date | None) -> None:
    check_versions((Version("v1", deprecated, sunset),))


@pytest.mark.requirement("OPS-17")
@pytest.mark.parametrize(
    ("deprecated", "sunset"),
    [
        (date(2026, 11, 21), date(2027, 11, 20)),
        (date(2026, 12, 31), date(2027, 12, 30)),
        (date(2028, 2, 29), date(2029, 2, 28)),
        (None, date(2027, 11, 21)),
    ],
)
def test_less_stops_the_start(deprecated: date | None, sunset: date) -> None:
    with pytest.raises(ConfigError, match="v1"):
        check_versions((Version("v1", deprecated, sunset),))


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/api/v1/auth/me", "v1"),
        ("/api/auth/me", "v1"),
        ("/api/v2/auth/me", "v2"),
        ("/odata/v2/Clients", "v2"),
        ("/odata/Clients", "v1"),
        ("/api/v22/auth", "v1"),
        ("/", "v1"),
        ("", "v1"),
    ],
)
def test_the_address_names_the_version(path: str, name: str) -> None:
    assert version_of(path, (Version("v1"), Version("v2"))).name == name


def test_the_registry_of_this_release_is_acceptable() -> None:
    check_versions(VERSIONS)

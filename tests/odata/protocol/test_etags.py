"""Entity tags compare weakly, and a condition that cannot be read is not fulfilled."""

from __future__ import annotations

import pytest

from app.errors import PreconditionFailedError
from app.odata.protocol.etags import Precondition, format_etag, parse_precondition, refuse_stale


@pytest.mark.parametrize(
    ("header", "matches"),
    [
        ('W/"5"', True),
        ('"5"', True),
        ("*", True),
        ('W/"4", W/"5"', True),
        ('"4","5"', True),
        ('W/"4"', False),
        ('W/"55"', False),
        ('""', False),
        ("5", False),
        ("", False),
        ('W/"5" nonsense', False),
        ('"5', False),
    ],
)
def test_matching_a_version(header: str, matches: bool) -> None:
    precondition = parse_precondition(header)
    assert precondition is not None
    assert precondition.matches(5) is matches


def test_what_is_written_is_read() -> None:
    precondition = parse_precondition(format_etag(12))
    assert precondition == Precondition(frozenset({"12"}))
    assert precondition.version == 12


@pytest.mark.parametrize("header", ["*", '"1","2"', '"x"', "", '"²"', f'"{10**30}"'])
def test_no_single_version(header: str) -> None:
    precondition = parse_precondition(header)
    assert precondition is not None
    assert precondition.version is None


def test_without_a_header_there_is_no_condition() -> None:
    assert parse_precondition(None) is None
    refuse_stale(None, 5)


def test_only_any_matches_what_has_no_version() -> None:
    assert Precondition(any=True).matches(None)
    assert not Precondition(frozenset({"None"})).matches(None)


def test_stale_is_refused() -> None:
    refuse_stale(parse_precondition('W/"5"'), 5)
    with pytest.raises(PreconditionFailedError):
        refuse_stale(parse_precondition('W/"4"'), 5)

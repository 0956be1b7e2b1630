"""Prefer is read in both spellings, and nothing in it can make a request fail."""

from __future__ import annotations

import pytest
from werkzeug.datastructures import Headers

from app.odata.protocol.preferences import note_applied, parse_preferences


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        (["return=minimal"], "minimal"),
        (["Return=MINIMAL"], "minimal"),
        (['return="representation"'], "representation"),
        (["respond-async, return=minimal; why=because"], "minimal"),
        (["return=minimal", "return=representation"], "minimal"),
        (["return=other"], None),
        (["return"], None),
        ([], None),
    ],
)
def test_return(headers: list[str], expected: str | None) -> None:
    assert parse_preferences(headers).return_ == expected


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("odata.maxpagesize=3", 3),
        ("maxpagesize=3", 3),
        ('maxpagesize="3"', 3),
        ("maxpagesize=0", None),
        ("maxpagesize=-1", None),
        ("maxpagesize=many", None),
        ("maxpagesize=²", None),
        (f"maxpagesize={'9' * 5000}", None),
    ],
)
def test_max_page_size(header: str, expected: int | None) -> None:
    assert parse_preferences([header]).max_page_size == expected


def test_all_preferences_of_one_header() -> None:
    preferences = parse_preferences(
        [
            'handling=strict, odata.track-changes, omit-values=nulls;x="a,b",'
            ' odata.include-annotations="display.*,-*", odata.continue-on-error, wait=10'
        ]
    )
    assert preferences.handling == "strict"
    assert preferences.track_changes
    assert preferences.omit_values == "nulls"
    assert preferences.include_annotations == "display.*,-*"
    assert preferences.continues_on_error
    assert not preferences.respond_async
    assert preferences.by_name["wait"].value == "10"


def test_continue_on_error_can_be_refused() -> None:
    assert parse_preferences(["continue-on-error=false"]).continues_on_error is False
    assert parse_preferences(["continue-on-error=maybe"]).continues_on_error is None
    assert parse_preferences([]).continues_on_error is None


@pytest.mark.parametrize("header", ["=,,;", 'a="b', "\x00", "é=1", ",", '"', "a b c", "a=b c=d"])
def test_nonsense_is_ignored(header: str) -> None:
    assert parse_preferences([header, "return=minimal"]).return_ == "minimal"


def test_after_nonsense_the_next_preference_counts() -> None:
    assert parse_preferences(['x y z, return="minimal"']).return_ == "minimal"


def test_applied_repeats_the_spelling_of_the_client() -> None:
    preferences = parse_preferences(["odata.maxpagesize=9000, return=minimal, track-changes"])
    assert preferences.applied("maxpagesize", 5000) == "odata.maxpagesize=5000"
    assert preferences.applied("return") == "return=minimal"
    assert preferences.applied("track-changes") == "track-changes"


def test_applied_quotes_what_needs_quotes() -> None:
    preferences = parse_preferences(['include-annotations="a.*,b.*"'])
    assert preferences.applied("include-annotations") == 'include-annotations="a.*,b.*"'


def test_what_was_applied_is_told_once() -> None:
    headers = Headers()
    for applied in ("return=minimal", "maxpagesize=3", "return=minimal"):
        note_applied(headers, applied)
    assert headers["Preference-Applied"] == "return=minimal, maxpagesize=3"

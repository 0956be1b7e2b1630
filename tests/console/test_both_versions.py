"""Which of two people's texts stand."""

from __future__ import annotations

from app.console.forms import digests_of, merged_form


def test_the_stored_text_takes_the_place_of_the_typed_one_where_it_was_chosen() -> None:
    typed, stored = {"name": "Mine", "notes": "Mine"}, {"name": "Theirs", "notes": "Theirs"}
    assert merged_form(typed, ["name", "unknown"], stored) == {"name": "Theirs", "notes": "Mine"}


def test_what_a_form_is_made_of_does_not_depend_on_the_ends_of_its_lines() -> None:
    assert digests_of({"notes": "a\r\nb", "name": ""}) == digests_of({"notes": "a\nb"})

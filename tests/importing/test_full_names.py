"""Whole names in one cell, and the people that an import makes of them."""

from __future__ import annotations

import pytest
from flask import Flask

from app.importing.columns import Options, Plan, split_name

NAMES = [
    ("Jens Müller", "Jens", "Müller"),
    ("Müller, Jens", "Jens", "Müller"),
    ("Dr. Anna-Maria von der Heide", "Dr. Anna-Maria", "von der Heide"),
    ("von der Heide, Dr. Anna-Maria", "Dr. Anna-Maria", "von der Heide"),
    ("Frau Prof. Dr. Eva Klein", "Prof. Dr. Eva", "Klein"),
    ("Dr. Müller", "Dr.", "Müller"),
    ("Herr Weber", "", "Weber"),
    ("Ludwig van Beethoven", "Ludwig", "van Beethoven"),
    ("Martin Luther King Jr.", "Martin Luther", "King Jr."),
    ("John Smith, Jr.", "John", "Smith Jr."),
    ("Van Morrison", "Van", "Morrison"),
    ("von Heide", "", "von Heide"),
    ("Jack Ma", "Jack", "Ma"),
    ("Madonna", "", "Madonna"),
    ("Ms. Ada  Lovelace", "Ada", "Lovelace"),
    ("Herr", "", "Herr"),
    ("Müller,", "", "Müller"),
    ("", "", ""),
]


@pytest.mark.parametrize(("text", "first", "last"), NAMES, ids=[name for name, _, _ in NAMES])
def test_a_name_has_a_first_and_a_last_part(text: str, first: str, last: str) -> None:
    assert split_name(text) == (first, last)


@pytest.mark.parametrize("kind", ["contact", "lead"])
def test_a_column_of_whole_names_is_told_as_it_will_be(app: Flask, kind: str) -> None:
    with app.app_context():
        plan = Plan(["Full name", "Email"], Options(type=kind))
    values, problems = plan.row_values(["Müller, Jens", "jens@example.com"])
    assert problems == []
    assert (values["first_name"], values["last_name"]) == ("Jens", "Müller")
    shown = plan.preview(values)
    assert list(shown) == ["firstName", "lastName", "email"]
    assert (shown["firstName"], shown["lastName"]) == ("Jens", "Müller")


def test_columns_of_their_own_go_before_a_whole_name(app: Flask) -> None:
    for headings in (["Last name", "Full name"], ["Full name", "Last name"]):
        row = {"Last name": "Heide", "Full name": "Anna von der Heide"}
        with app.app_context():
            plan = Plan(headings, Options(type="contact"))
        values, _ = plan.row_values([row[heading] for heading in headings])
        assert (values["first_name"], values["last_name"]) == ("Anna", "Heide")


def test_a_whole_name_can_be_a_last_name_where_that_is_chosen(app: Flask) -> None:
    with app.app_context():
        plan = Plan(["Full name"], Options(type="contact", mapping={"Full name": "lastName"}))
    values, _ = plan.row_values(["Jens Müller"])
    assert (values.get("first_name"), values["last_name"]) == (None, "Jens Müller")

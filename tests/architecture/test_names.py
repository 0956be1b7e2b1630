"""A name says what it names: not ``one``, ``found`` or ``given``."""

from __future__ import annotations

from tests.architecture.names import empty_functions, empty_names, private_names_in_tests

# Columns of a table, and what is written into them.
COLUMNS = {("app.models.kb_article", "found"), ("app.models.kb_article", "shown"),
           ("app.kb.search", "found")}  # fmt: skip


# What a question asks to be told: yes or no, or when. Sessions are stored with it.
FIELDS = {("app.bi.questions.algebra", "asked"), ("app.bi.plans.plan", "asked")}


def test_locals_say_what_they_are() -> None:
    assert set(empty_names()) == COLUMNS | FIELDS


def test_functions_say_what_they_return_or_do() -> None:
    assert empty_functions() == ()


def test_tests_know_no_private_names() -> None:
    assert list(private_names_in_tests()) == []

"""A name says what it names: not ``one``, ``found`` or ``given``."""

from __future__ import annotations

from tests.architecture.names import empty_functions, empty_names, private_names_in_tests

# Columns of a table, and what is written into them.
COLUMNS = {("app.models.kb_use", "found"), ("app.models.kb_use", "shown"),
           ("app.kb.search", "found")}  # fmt: skip


# Words of a question are kept, asked for, said, and stand behind each other.
GRAMMAR = ("app.bi.questions", "app.bi.periods", "app.bi.plans")
OF_GRAMMAR = {"asked", "behind", "kept", "said"}


def test_locals_say_what_they_are() -> None:
    names = {
        (module, word)
        for module, word in empty_names()
        if not (module.startswith(GRAMMAR) and word in OF_GRAMMAR)
    }
    assert names == COLUMNS


def test_functions_say_what_they_return_or_do() -> None:
    assert empty_functions() == ()


def test_tests_know_no_private_names() -> None:
    assert list(private_names_in_tests()) == []

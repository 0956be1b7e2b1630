"""A local is called after the thing that it holds, not ``one``, ``found`` or ``given``."""

from __future__ import annotations

from tests.architecture.names import empty_names

# Columns of a table, and what is written into them.
COLUMNS = {("app.models.kb_use", "found"), ("app.models.kb_use", "shown"),
           ("app.kb.search", "found")}  # fmt: skip


def test_locals_say_what_they_are() -> None:
    assert set(empty_names()) == COLUMNS

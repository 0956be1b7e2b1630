"""Which entities a request is going to write, as its text tells."""

from __future__ import annotations

import pytest

from app.odata.writing.locks import WriteText, locks_of_requests
from tests.odata.bookshop import bookshop


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("Authors(1)", ""), ("/Authors(1)", ""), ("Authors(id=1)", ""), ("authors(1)", ""),
        ("Authors/1", ""), ("Authors(@key)", "@key=1"), ("Authors(1)/name", ""),
        ("Authors(1)/Bookshop.Act", ""),
    ],
)  # fmt: skip
def test_an_entity_named_by_its_key_is_locked(path: str, query: str) -> None:
    write = WriteText("PATCH", path, query)
    assert locks_of_requests(bookshop(), [write]) == {"Author id=1"}


@pytest.mark.parametrize(
    "path", ["Authors", "Authors(1)/Books", "$1", "Authors(", "Nothing(1)", "Authors(@key)", ""]
)
def test_what_names_no_entity_locks_none(path: str) -> None:
    assert locks_of_requests(bookshop(), [WriteText("PATCH", path, "")]) == set()

"""Whatever is sent, it is read or refused: no other error comes out of a body or a path."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from app.errors import ApiError, ValidationError
from app.odata.errors import QueryError
from app.odata.payload.reader import BodyReader
from app.odata.syntax.path import parse_path
from app.odata.writing.targets import find_plain_target, resolve_target
from tests.odata.bookshop import AUTHOR, BOOK, bookshop

SHOP = bookshop()
NAMES = [
    *AUTHOR.properties, *AUTHOR.navigation, *BOOK.properties, *BOOK.navigation, "@odata.id", "@id",
    "@odata.type", "@removed", "Books@odata.bind", "Author@odata.bind", "Books@delta", "x@y.z",
    "@", "address", "street", "shoeSize", "name@odata.bind", "",
]  # fmt: skip
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.text(max_size=8),
    st.decimals(allow_nan=False, allow_infinity=False),
    st.sampled_from(["2024-01-31", "2024-01-31T10:00:00Z", "Known", "#Bookshop.Book", "Books(1)",
                     Decimal("1E+400"), "\ud800", "\x00"]),
)  # fmt: skip
BODIES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=12,
)


@settings(max_examples=4 * settings().max_examples, derandomize=True, deadline=None)
@given(body=BODIES, text_numbers=st.booleans())
def test_any_body_is_read_or_refused(body: Any, text_numbers: bool) -> None:
    try:
        reader = BodyReader(SHOP, text_numbers)
        entity = reader.entity(body, AUTHOR)
        reader.problems.raise_any()
    except ValidationError as error:
        assert error.details
        assert all(isinstance(detail.message, str) and detail.message for detail in error.details)
    else:
        known = {prop.attribute for prop in AUTHOR.properties.values()} | {"street", "city"}
        assert entity.values.keys() <= known


SEGMENTS = st.sampled_from(
    ["Authors", "Books", "(1)", "('x')", "(id=1)", "(externalId='x')", "/1", "/name", "/address",
     "/city", "/Books", "/Author", "/$ref", "/$value", "/$count", "/Bookshop.Author", "/-5",
     "(@k)", "()", "/", "(1,2)", "/Translations(bookId=1,language='de')", "/$filter(true)",
     "(99999999999999999999)", "(null)", "(1.5)", "$batch", "$crossjoin(Authors)", "//", "'"]
)  # fmt: skip


@settings(max_examples=4 * settings().max_examples, derandomize=True, deadline=None)
@given(path=st.lists(SEGMENTS, max_size=6).map("".join) | st.text(max_size=20))
def test_any_path_is_followed_or_refused(path: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        # No database here: nothing is related, nobody has an alternate key.
        patch.setattr("app.odata.writing.targets.related_keys", lambda *arguments: [1])
        patch.setattr("app.odata.writing.targets.find_key", lambda *arguments: None)
        found = find_plain_target(SHOP, path)
        try:
            target = resolve_target(SHOP, parse_path(path), {})
        except (ApiError, QueryError):
            assert found is None
        else:
            assert found is None or found == target

"""Tokens of delta links: read as they were made, by the service alone."""

from __future__ import annotations

import base64
import zlib
from datetime import timedelta

import pytest
from hypothesis import given, settings, strategies as st

from app.clock import utc_now
from app.http.security import make_caller
from app.odata.errors import QueryError
from app.odata.tracking import Mark, MarkTokens

OLD, NEW = b"the key of last year", b"the key of this year"
CALLER = make_caller(7, "reader", "jwt", {"clients:read": "own"})
KEYS = st.integers(1, 2**40) | st.text(max_size=5) | st.tuples(st.integers(1, 99), st.text())


@settings(max_examples=settings().max_examples // 2, deadline=None)
@given(
    st.dictionaries(KEYS, st.integers(1, 99)), st.frozensets(KEYS), st.none() | KEYS,
    st.frozensets(st.integers(1, 2**40)),
)  # fmt: skip
def test_a_mark_is_read_as_it_was_made_and_not_read_by_others(
    known: dict[object, int], gone: frozenset[object], after: object, breaks: frozenset[int]
) -> None:
    now = utc_now().replace(microsecond=0)
    mark = Mark(
        now, known, gone, None if after is None else (now, after), now + timedelta(1), breaks
    )
    token = MarkTokens([OLD]).make(mark, "query", CALLER)
    assert MarkTokens([OLD, NEW]).read(token, "query", CALLER) == mark
    with pytest.raises(QueryError):
        MarkTokens([NEW]).read(token, "query", CALLER)
    # Behind the version, the instant and the first block there is nothing that says anything.
    content = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
    for start in range(len(content)):
        with pytest.raises(zlib.error):
            zlib.decompress(content[start:])

"""Addresses and heads are text, or they are refused before anybody reads them."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from hypothesis import given, strategies as st

from app.errors import InvalidQueryError, ValidationError
from app.http.gate import check_host, check_path, check_query

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


@given(TEXT)
def test_every_text_can_be_asked_for(text: str) -> None:
    check_path({"PATH_INFO": text.encode().decode("latin-1")})
    check_query({"QUERY_STRING": f"{quote(text)}={quote(text)}"})


@given(TEXT, st.sampled_from(["%00", "%FF", "%C3", "\x80"]), TEXT)
def test_what_is_no_text_is_told_by_its_parameter(before: str, bad: str, after: str) -> None:
    with pytest.raises(InvalidQueryError) as refused:
        check_query({"QUERY_STRING": f"top=1&name={quote(before)}{bad}{quote(after)}&skip=2"})
    assert [detail.field for detail in refused.value.details] == ["name"]


@pytest.mark.parametrize(
    ("host", "protocol", "is_host"),
    [
        ("example.com", "HTTP/1.1", True), ("[::1]:8000", "HTTP/1.1", True), ("", "HTTP/1.1", True),
        (None, "HTTP/1.0", True), (None, "HTTP/1.1", False), ("a b", "HTTP/1.1", False),
        ("example.com:80:80", "HTTP/1.1", False), ("user@example.com", "HTTP/1.1", False),
    ],
)  # fmt: skip
def test_a_host_is_a_name_or_an_address(host: str | None, protocol: str, is_host: bool) -> None:
    environ = {"SERVER_PROTOCOL": protocol, **({} if host is None else {"HTTP_HOST": host})}
    if is_host:
        check_host(environ)
    else:
        with pytest.raises(ValidationError):
            check_host(environ)

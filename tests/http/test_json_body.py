"""The one reader of JSON."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from flask import Flask, jsonify
from flask.testing import FlaskClient
from hypothesis import given, strategies as st

from app.db.types import json_text
from app.errors import ValidationError
from app.http.json_body import MAXIMUM_DEPTH, parse_json, read_json, read_object
from app.http.security import counted, public
from tests.conftest import KeepApp

REFUSED = {
    "empty": b"",
    "blank": b"  ",
    "two values": b"{} {}",
    "rest": b'{"a":1}x',
    "open": b'{"a":1',
    "single quotes": b"{'a':1}",
    "comment": b'{"a":1 /* why */}',
    "comma at the end": b"[1,]",
    "leading zero": b"[01]",
    "plus": b"[+1]",
    "NaN": b"[NaN]",
    "Infinity": b"[Infinity]",
    "-Infinity": b"[-Infinity]",
    "1e999": b"[1e999]",
    "1e-999": b"[1e-999]",
    "a number of 5,000 digits": b"1" * 5000,
    "a fraction of 5,000 digits": b"0." + b"1" * 5000,
    "an exponent that fills the memory": b"1e999999999",
    "an exponent of twenty digits": b"10e99999999999999999999",
    "the other way": b"0.1e-99999999999999999999",
    "not UTF-8": b'"\xff"',
    "an encoded surrogate": b'"\xed\xa0\x80"',
    "half of a surrogate pair": rb'["a", "\ud800"]',
    "the other half": rb'{"a": "\udc00"}',
    "a surrogate in a name": rb'{"\ud800": 1}',
    "NUL": rb'{"a": {"b": ["\u0000"]}}',
    "NUL in a name": rb'{"\u0000": 1}',
    "a control character": b'"\x01"',
    "a name twice": b'{"a":1,"a":1}',
    "a name twice below": b'[{"b":{"a":1,"a":2}}]',
    "UTF-16": '{"a":1}'.encode("utf-16"),
    "100,000 brackets": b"[" * 100_000,
    "100,000 objects": b'{"a":' * 100_000,
    "just too deep": b"[" * (MAXIMUM_DEPTH + 1) + b"]" * (MAXIMUM_DEPTH + 1),
}


@pytest.mark.requirement("SEC-65", "SEC-66")
@pytest.mark.parametrize("body", REFUSED.values(), ids=REFUSED.keys())
def test_what_is_not_strictly_json_is_refused(body: bytes) -> None:
    with pytest.raises(ValidationError):
        parse_json(body)


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (b"0.1", Decimal("0.1")),
        (b"1.10", Decimal("1.10")),
        (b"123456789012345678901234567890.5", Decimal("123456789012345678901234567890.5")),
        (b"9223372036854775807", 2**63 - 1),
        (b"-9223372036854775808", -(2**63)),
        (b"9223372036854775808", Decimal(2**63)),
        (b"-99999999999999999999", Decimal(-(10**20) + 1)),
        (b"-0", 0),
        (b"1E2", Decimal("1E+2")),
        (b"1.7976931348623157e308", Decimal("1.7976931348623157e308")),
        (b"null", None),
        (rb'"\ud83d\ude00"', "😀"),
        (rb'"\\u0000"', r"\u0000"),
        ('{"ü":"ß‏"}'.encode(), {"ü": "ß\u200f"}),
        (b'\xef\xbb\xbf{"a":[]}', {"a": []}),
        (b"[" * MAXIMUM_DEPTH + b"]" * MAXIMUM_DEPTH, ...),
        (b'["' + b"[{" * 500 + b'\\"[[["]', ["[{" * 500 + '"[[[']),
    ],
)
def test_values_arrive_exactly(body: bytes, value: Any) -> None:
    found = parse_json(body)
    if value is not ...:
        assert (found, type(found)) == (value, type(value))


def test_a_refusal_names_the_place() -> None:
    with pytest.raises(ValidationError, match="line 2, column 5"):
        parse_json(b'{"a": 1,\n    b: 2}')
    with pytest.raises(ValidationError) as caught:
        parse_json(b'{"name": 1, "name": 2}')
    assert caught.value.details[0].field == "name"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (b'{"customFields": {"a": 1, "a": 2}}', "customFields.a"),
        (b'{"lines": [{}, {"text": 1, "n": 1e400, "text": 2}]}', "lines[1].text"),
        (b'[{"b": [[{"a": null, "a": 1}]]}]', "[0].b[0][0].a"),
        (b'{"x": {"": 1, "": 2}}', 'x.""'),
        (b'{"requests": [{"body": {"name": "a", "name": "b"}}]}', "requests[0].body.name"),
        (b'{"a": {"b": 1, "b": 1}} {', ""),
    ],
)
def test_a_name_that_stands_twice_is_told_with_its_path(body: bytes, field: str) -> None:
    with pytest.raises(ValidationError) as caught:
        parse_json(body)
    assert [detail[0] for detail in caught.value.details] == [field]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (rb'{"name": "a\u0000"}', "name"),
        (rb'{"lines": [{}, {"text": {"en": "\ud800"}}]}', "lines[1].text.en"),
        (rb'{"custom": {"\u0000": 1}}', "custom"),
        (rb'"\udc00"', ""),
    ],
)
def test_a_text_that_cannot_be_kept_is_named(body: bytes, field: str) -> None:
    with pytest.raises(ValidationError) as caught:
        parse_json(body)
    assert [detail.field for detail in caught.value.details] == [field]


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | texts
    | st.decimals(-(10**20), 10**20, allow_nan=False, places=4),
    lambda below: st.lists(below, max_size=4) | st.dictionaries(texts, below, max_size=4),
    max_leaves=15,
)  # fmt: skip


@given(values)
def test_what_we_write_we_read_back(value: Any) -> None:
    assert parse_json(json_text(value).encode()) == value


@pytest.mark.requirement("SEC-66")
@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(body: bytes) -> None:
    try:
        parse_json(body)
    except ValidationError as error:
        assert error.message


@pytest.fixture
def echo(keep_app: KeepApp) -> FlaskClient:
    """A service with one more address, which answers with what it was sent."""
    return keep_app(_add_echo, MAX_JSON_BYTES=1000).test_client()


def _add_echo(app: Flask) -> None:
    @public
    @counted("free")
    def view() -> Any:
        return jsonify(read_json())

    @public
    @counted("free")
    def object_view() -> Any:
        return jsonify(read_object())

    app.add_url_rule("/echo", view_func=view, methods=["POST"])
    app.add_url_rule("/object", view_func=object_view, methods=["POST"])


on_sqlite = pytest.mark.only_on("sqlite")


@pytest.mark.requirement("SEC-66")
@on_sqlite
@pytest.mark.parametrize(
    ("content_type", "status"),
    [
        ("application/json", 200),
        ("application/json; charset=utf-8", 200),
        ("application/json;charset=UTF8", 200),
        ("Application/JSON", 200),
        ("application/json;odata.metadata=minimal;IEEE754Compatible=true", 200),
        ("application/merge-patch+json", 200),
        ("application/json; charset=latin-1", 415),
        ("text/plain", 415),
        ("text/json", 415),
        ("application/xml", 415),
        ("application/x-www-form-urlencoded", 415),
        ("multipart/form-data; boundary=x", 415),
        (None, 415),
    ],
)
def test_the_content_type_says_json(
    echo: FlaskClient, content_type: str | None, status: int
) -> None:
    answer = echo.post("/echo", data=b'{"a":1.50}', content_type=content_type)
    assert answer.status_code == status
    if status == 415:
        assert answer.json["error"]["code"] == "UNSUPPORTED_MEDIA_TYPE"
    else:
        assert answer.data == b'{"a":1.50}'


@on_sqlite
def test_an_encoded_body_is_refused(echo: FlaskClient) -> None:
    answer = echo.post("/echo", data=b"{}", content_type="application/json",
                       headers={"Content-Encoding": "gzip"})  # fmt: skip
    # RFC 9110, 15.5.16
    assert (answer.status_code, answer.headers["Accept-Encoding"]) == (415, "identity")


@pytest.mark.requirement("SEC-116")
@on_sqlite
def test_a_body_over_the_limit_is_413_by_its_length_or_while_it_is_read(echo: FlaskClient) -> None:
    exact = b'"' + b"x" * 998 + b'"'
    assert echo.post("/echo", data=exact, content_type="application/json").status_code == 200
    over = exact + b" "
    told = echo.post("/echo", data=over, content_type="application/json")
    assert (told.status_code, told.json["error"]["code"]) == (413, "FILE_TOO_LARGE")
    for length in ("5000000000", "9" * 5000):
        only_told = echo.post("/echo", data=b"", content_type="application/json",
                              environ_overrides={"CONTENT_LENGTH": length})  # fmt: skip
        assert only_told.status_code == 413
    chunked = echo.post(
        "/echo", data=over, content_type="application/json",
        environ_overrides={"CONTENT_LENGTH": "", "wsgi.input_terminated": True},
    )  # fmt: skip
    assert chunked.status_code == 413


@on_sqlite
@pytest.mark.parametrize("body", ["[]", '"a"', "1", "null", "true"])
def test_where_an_object_is_expected_nothing_else_passes(echo: FlaskClient, body: str) -> None:
    answer = echo.post("/object", data=body, content_type="application/json")
    assert (answer.status_code, answer.json["error"]["code"]) == (400, "VALIDATION_ERROR")

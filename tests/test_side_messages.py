"""What a process and the one beside it say to each other."""

from __future__ import annotations

import io
import json
import struct
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pytest

from app.invoices.document import Address, BankAccount, Party
from app.side_messages import read_message, write_message

PARTY = Party(name="Ärzte \ud83d \x00", address=Address(city="Köln"))


def sent(message: Any, **options: bool) -> Any:
    stream = io.BytesIO()
    write_message(stream, message)
    stream.seek(0)
    return read_message(stream, **options)


@pytest.mark.parametrize(
    "value",
    [None, True, 3, "Ω\u2028\ud800", Decimal("1.20"), date(2026, 1, 31), b"\0\xff", {"a": [1]}],
)  # fmt: skip
def test_plain_values_arrive_as_they_left(value: Any) -> None:
    found = sent(value)
    assert found == value and type(found) is type(value)
    assert str(found) == str(value)  # 1.20 is not 1.2


def test_dataclasses_arrive_where_they_are_expected_alone() -> None:
    assert sent([PARTY, (1, 2)], with_objects=True) == [PARTY, [1, 2]]
    with pytest.raises(ValueError, match="expected"):
        sent(PARTY)


@pytest.mark.parametrize("name", ["os:system", "app.side_messages:read_message", "app.config:Path"])
def test_nothing_else_is_built(name: str) -> None:
    content = json.dumps({"$object": name, "fields": {}}).encode()
    with pytest.raises(ValueError, match="no dataclass"):
        read_message(
            io.BytesIO(struct.pack(">Q", len(content)) + content), with_objects=True
        )  # fmt: skip


@pytest.mark.parametrize("value", [object(), datetime(2026, 1, 1), {1, 2}, BankAccount])
def test_what_cannot_be_sent_is_refused_before_anything_is(value: Any) -> None:
    stream = io.BytesIO()
    with pytest.raises(TypeError):
        write_message(stream, value)
    assert stream.getvalue() == b""


@pytest.mark.parametrize("content", [b"", b"\0\0", struct.pack(">Q", 9) + b"{}"])
def test_the_end_of_the_other_side_is_noticed(content: bytes) -> None:
    with pytest.raises(EOFError):
        read_message(io.BytesIO(content))


def test_what_is_no_message_is_an_error() -> None:
    with pytest.raises(ValueError, match="Expecting"):
        read_message(io.BytesIO(struct.pack(">Q", 3) + b"abc"))

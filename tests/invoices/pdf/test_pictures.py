"""Logo and payment code."""

from __future__ import annotations

import dataclasses
import io
import struct
import zlib
from decimal import Decimal
from typing import Any

import pytest
import segno
from PIL import Image

from app.invoices.document import BankAccount
from app.invoices.pdf import logo
from app.invoices.pdf.qr import payment_code
from app.invoices.pdf.render import render_pdf
from tests.invoices.documents import BANK, make_document


def picture(mode: str, size: tuple[int, int], color: Any, kind: str = "PNG") -> bytes:
    stream = io.BytesIO()
    Image.new(mode, size, color).save(stream, kind)
    return stream.getvalue()


def test_a_transparent_logo_stands_on_white() -> None:
    read = logo.read_logo(picture("RGBA", (4, 2), (255, 0, 0, 0)))
    assert read == logo.Logo(b"\xff" * 24, 4, 2)


def test_a_large_logo_is_stored_as_large_as_it_prints() -> None:
    read = logo.read_logo(picture("RGB", (3000, 2000), (1, 2, 3), "JPEG"))
    assert read is not None
    assert (read.columns, read.rows) == (450, 300)


@pytest.mark.parametrize(
    "content",
    [None, b"", b"not a picture", b"<svg xmlns='http://www.w3.org/2000/svg'/>",
     picture("RGB", (9, 9), 0)[:40], picture("P", (9, 9), 0, "GIF"),
     b"%!PS-Adobe-3.0 EPSF-3.0\n(/etc/passwd) run"],
    ids=["none", "empty", "text", "svg", "cut off", "other format", "program"],
)  # fmt: skip
def test_what_is_no_logo_is_left_out(content: bytes | None) -> None:
    assert logo.read_logo(content) is None
    assert render_pdf(make_document(logo=content)).endswith(b"%%EOF\n")


def large_png(points: int) -> bytes:
    """A black square, made without a picture of as many bytes in memory."""
    header = struct.pack(">2I5B", points, points, 1, 0, 0, 0, 0)
    rows = zlib.compress(bytes(points * (1 + (points + 7) // 8)), 1)
    chunks = (b"IHDR" + header, b"IDAT" + rows, b"IEND")
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(chunk) - 4) + chunk + struct.pack(">I", zlib.crc32(chunk))
        for chunk in chunks
    )


@pytest.mark.requirement("SEC-117")
def test_a_picture_that_unpacks_to_too_much_is_left_out() -> None:
    assert logo.read_logo(large_png(100)) is not None
    assert logo.read_logo(large_png(30_000)) is None


def test_a_picture_of_more_points_than_anybody_prints_is_left_out() -> None:
    assert logo.read_logo(picture("1", (4_000, 3_999), 0)) is not None
    assert logo.read_logo(picture("1", (4_000, 4_001), 0)) is None


def test_the_code_is_a_sepa_transfer() -> None:
    document = make_document()
    payload = "\n".join(
        ["BCD", "002", "1", "SCT", "COBADEFFXXX", "Nordlicht Software GmbH",
         "DE89370400440532013000", "EUR119", "", "", "INV-2026-00007"]
    )  # fmt: skip
    expected = segno.make_qr(payload.encode(), error="m", boost_error=False, mask=2)
    assert payment_code(document) == tuple(bytes(row) for row in expected.matrix)


@pytest.mark.parametrize(
    "values",
    [
        {"currency": "USD"}, {"state": "Draft"}, {"state": "Paid"}, {"state": "Void"},
        {"type": "CreditNote"}, {"amount_due": Decimal(0)}, {"bank": None},
        {"bank": BankAccount(iban="DE00370400440532013000")},
        {"bank": BankAccount(iban="BR1500000000000010932840814P2")},
        {"amount_due": Decimal("1000000000")},
        {"bank": dataclasses.replace(BANK, account_holder=" \n")},
        {"bank": dataclasses.replace(BANK, account_holder="\U0001f4b6" * 70)},
    ],
    ids=lambda values: " ".join(f"{name}={str(value)[:24]}" for name, value in values.items()),
)  # fmt: skip
def test_there_is_no_code_where_nothing_can_be_paid_so(values: dict[str, Any]) -> None:
    assert payment_code(make_document(**values)) is None


def test_a_wrong_bic_is_left_out_of_the_code() -> None:
    wrong = dataclasses.replace(BANK, bic="nonsense bic!")
    without = dataclasses.replace(BANK, bic=None)
    assert payment_code(make_document(bank=wrong)) == payment_code(make_document(bank=without))

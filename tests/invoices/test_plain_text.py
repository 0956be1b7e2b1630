"""Text of strangers is printed as text."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, strategies as st
from lxml import etree

from app.invoices.plain_text import MAX_MARKS, clean, one_line


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (None, ""),
        ("  plain ", "plain"),
        ("a\r\nb\rc\u2028d", "a\nb\nc\nd"),
        ("a\n\n\n \n\nb", "a\n\nb"),
        ("\x00\x1b[31mred\x7f", "[31mred"),
        ("total \u202e001\u202c", "total 001"),
        ("e\u0301", "é"),
        ("soft\u00adhyphen", "softhyphen"),
        ("क\u200dष 👩\u200d💻", "क\u200dष 👩\u200d💻"),
    ],
    ids=["none", "stripped", "line ends", "empty lines", "control", "override", "NFC", "hyphen",
         "joiners stay"],
)  # fmt: skip
def test_clean(text: str | None, expected: str) -> None:
    assert clean(text) == expected


def test_marks_on_one_letter_are_bounded() -> None:
    heap = clean("Z" + "\u0322\u0353\u0333\u0348" * 50 + "a")
    assert sum(unicodedata.combining(letter) > 0 for letter in heap) == MAX_MARKS
    assert heap[0] == "Z" and heap[-1] == "a"


def test_one_line_has_no_line_ends() -> None:
    assert one_line(" a\n\n b\t c ") == "a b c"


@given(st.text())
def test_clean_text_is_text_for_xml(text: str) -> None:
    element = etree.Element("x")
    element.text = clean(text)
    assert clean(element.text) == element.text

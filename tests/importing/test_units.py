"""Units of price lists become codes: by what documents and people write for them."""

from __future__ import annotations

import pytest

from app.importing.units import unit_code
from app.invoices.einvoice import codes
from app.invoices.texts import LANGUAGES, units


@pytest.mark.parametrize(
    ("written", "code"),
    [("HUR", "HUR"), ("hur", "HUR"), ("Std.", "HUR"), ("Stunde", "HUR"), ("h", "HUR"),
     ("Stk", "C62"), ("Stück", "C62"), ("pcs.", "C62"), ("STK", "STK"), ("m²", "MTK"),
     ("m2", "MTK"), ("pauschal", "LS"), (" lump  sum ", "LS"), ("Kübel", None), ("", None)],
)  # fmt: skip
def test_a_unit_is_read(written: str, code: str | None) -> None:
    assert unit_code(written) == code


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_documents_say_of_a_unit_is_that_unit(language: str) -> None:
    for code, word in units(language).items():
        of_that_word = {each for each, text in units(language).items() if text == word}
        assert unit_code(code) == code
        assert unit_code(word) in of_that_word, (code, word)
        assert unit_code(word) in codes.unit_codes()

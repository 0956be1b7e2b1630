"""A sign or a code beside an amount says its currency, or which ones it may be."""

from __future__ import annotations

import pytest

from app.written.currencies import read_currency, without_currency


@pytest.mark.parametrize(
    ("text", "amount", "currencies"),
    [
        ("1.234,50 €", "1.234,50", ("EUR",)),
        ("CHF 1'200", "1'200", ("CHF",)),
        ("sFr. 5.-", "5.-", ("CHF",)),
        ("US$5", "5", ("USD",)),
        ("-£3.20", "-£3.20", ()),
        ("£-3.20", "-3.20", ("GBP",)),
        ("12 xyz", "12 xyz", ()),
        ("1200", "1200", ()),
    ],
)
def test_an_amount_is_parted_from_its_currency(
    text: str, amount: str, currencies: tuple[str, ...]
) -> None:
    assert without_currency(text) == (amount, currencies)


def test_a_sign_of_several_currencies_says_all_of_them() -> None:
    assert read_currency("kr.") == ("SEK", "NOK", "DKK", "ISK")
    assert "USD" in read_currency("$") and len(read_currency("$")) > 1
    assert read_currency("eur") == ("EUR",)
    assert read_currency("?") == ()

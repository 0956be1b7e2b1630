"""Numbers, dates, money and words as each language writes them."""

from __future__ import annotations

from decimal import Decimal

import pytest

from app.invoices.pdf.render import lay_out
from tests.invoices.documents import make_document, make_line
from tests.invoices.pdf.reading import texts_on

THIN, HARD = "\u202f", "\u00a0"


@pytest.mark.parametrize(
    ("language", "title", "total", "day", "rate"),
    [
        ("de", "Rechnung", f"1.469.136,75{HARD}€", "02.03.2026", f"19{HARD}%"),
        ("de-AT", "Rechnung", f"€{HARD}1.469.136,75", "02.03.2026", f"19{HARD}%"),
        ("en", "Invoice", "€1,469,136.75", "Mar 2, 2026", "19%"),
        ("en-GB", "Invoice", "€1,469,136.75", "2 Mar 2026", "19%"),
        ("fr", "Facture", f"1{THIN}469{THIN}136,75{HARD}€", "2 mars 2026", f"19{HARD}%"),
        ("es", "Factura", f"1.469.136,75{HARD}€", "2 mar 2026", f"19{HARD}%"),
        ("it", "Fattura", f"1.469.136,75{HARD}€", "2 mar 2026", "19%"),
        ("pl", "Faktura", f"1{HARD}469{HARD}136,75{HARD}€", "2 mar 2026", "19%"),
        ("ru", "Счёт", f"1{HARD}469{HARD}136,75{HARD}€", f"2 мар. 2026{THIN}\u0433.", f"19{HARD}%"),
        ("ja", "Invoice", "€1,469,136.75", "Mar 2, 2026", "19%"),
    ],
)
def test_a_page_is_written_in_its_language(
    language: str, title: str, total: str, day: str, rate: str
) -> None:
    line = make_line(unit_price=Decimal("1234568.70"))
    texts = texts_on(lay_out(make_document([line], language=language))[0])
    assert {title, total, day, rate} <= set(texts)


def test_a_day_that_ends_with_a_full_stop_ends_the_sentence() -> None:
    texts = texts_on(lay_out(make_document(language="ru"))[0])
    assert f"Просим оплатить до 1 апр. 2026{THIN}\u0433." in texts

"""Documents that would make long files: many lines, long texts, and what strangers may write.

``ALL_SAMPLES`` has them beside the samples of the product.
"""

# ruff: noqa: RUF001 (the texts are in many scripts, with letters that look alike)

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal as D
from functools import partial
from typing import Any

from app.invoices.document import InvoiceDocument
from app.invoices.samples import NAMES, sample, sample_of

THOUSAND = 1000


def line(description: str, quantity: object, price: object, **values: Any) -> dict[str, Any]:
    """A line as a file of a sample says it."""
    amounts = {"quantity": D(str(quantity)), "unit_price": D(str(price))}
    return {"description": description, **amounts, **values}


def issued(lines: list[dict[str, Any]], **values: Any) -> InvoiceDocument:
    """An issued invoice of the sample seller."""
    return sample_of({"lines": lines, **values})


def many_pages() -> InvoiceDocument:
    services = ("Wartung", "Prüfung", "Schulung", "Entwicklung", "Betrieb")
    lines = [
        line(
            f"{services[number % 5]} Anlage {number:03d}"
            + ("\nmit Protokoll und Nachweis der Messwerte" if number % 7 == 0 else ""),
            D(number % 9 + 1) / 2, D(number * 37 % 240) + D("45.50"), unit_code="HUR",
        )
        for number in range(1, 96)
    ]  # fmt: skip
    return issued(lines, logo=True, discount_percent=D(5))


def hostile() -> InvoiceDocument:
    marks = "\u0315\u0357\u0350\u0343\u0323\u0333"
    buyer = {
        "name": '<script>alert("x")</script> & <img src="file:///etc/passwd">',
        "address": {
            "street": "A" * 120, "city": "../../../../etc/passwd\x00%n%s", "postal_code": "=1+1",
            "country": "DE",
        },
        "number": "'; DROP TABLE invoices; --",
    }  # fmt: skip
    return issued(
        [
            line("<b>bold?</b> &amp; {{7*7}} ${jndi:ldap://x} [link](javascript:x) \x1b[31m", 1, 1),
            line("W" * 300, "99999999.9999", "123456.7891", discount_percent=D("0.01")),
            line("Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft "
                 "und noch ein langer Satz mit vielen Wörtern, der umbrochen werden muss.", 1, 2),
            line(f"Zalgo: H{marks * 20}e\n\n\n\n\nend \u202e001", 1, 3),
        ],
        buyer=buyer, notes="(parentheses \\) \\( \\ %PDF-1.4 endstream endobj)",
        terms="Zeile\n" * 30, purchase_order="P" * 50, reference="R" * 100,
    )  # fmt: skip


def italian_long_description() -> InvoiceDocument:
    chapter = (
        "Progettazione esecutiva dell’impianto, direzione dei lavori e collaudo, come da "
        "capitolato allegato. Sono compresi i sopralluoghi, le misure e la documentazione finale. "
    )
    return issued(
        [
            line("Studio di fattibilità", 1, 2500, unit_code="LS", tax_rate=D(22)),
            line("\n".join(f"{number}. {chapter}" for number in range(1, 33))[:6000], 1, 18400,
                 unit_code="LS", tax_rate=D(22)),
            line("Spese di trasferta", 4, "85.25", unit_code="DAY", tax_rate=D(22)),
        ],
        language="it", discount_percent=D(3),
        terms="Pagamento a 30 giorni data fattura. " * 12,
    )  # fmt: skip


def thousand_lines() -> InvoiceDocument:
    return issued(
        [
            line(f"Artikel {number:04d}, Größe {number % 40 + 1}", number % 12 + 1,
                 D(number * 131 % 9973) / 100 + 1, product_code=f"A-{number:05d}",
                 tax_rate=D((19, 7)[number % 5 == 0]))
            for number in range(1, THOUSAND + 1)
        ],
        logo=True,
    )  # fmt: skip


ALL_SAMPLES: Mapping[str, Callable[[], InvoiceDocument]] = {
    **{name: partial(sample, name) for name in NAMES},
    "many-pages": many_pages,
    "hostile": hostile,
    "long-description": italian_long_description,
    "thousand-lines": thousand_lines,
}

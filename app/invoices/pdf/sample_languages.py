"""More samples: the other languages, more scripts, and a document of a thousand lines."""

# ruff: noqa: RUF001 (the texts are in many scripts, with letters that look alike)

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date
from decimal import Decimal as D

from app.invoices.document import Address, BankAccount, CreditedInvoice, InvoiceDocument, Party
from app.invoices.pdf.sample_documents import issued, line, logo

THOUSAND = 1000


def english() -> InvoiceDocument:
    buyer = Party(
        name="Blackwood & Hale Ltd",
        address=Address(street="14 Quay Street", city="Bristol", postal_code="BS1 4XA",
                        country="GB"),
        contact_name="Imogen Hale", number="C-000118",
    )  # fmt: skip
    return issued(
        [
            line("Data migration workshop, two days on site", 2, 1450, unit_code="DAY",
                 tax_rate=D(20)),
            line("Support retainer, first quarter", 3, "390.00", unit_code="MON",
                 tax_rate=D(20), period_start=date(2026, 1, 1), period_end=date(2026, 3, 31)),
        ],
        buyer=buyer, language="en", currency="GBP", logo=logo(),
        terms="Payment within 30 days. Please quote the invoice number.",
    )  # fmt: skip


def french() -> InvoiceDocument:
    buyer = Party(
        name="Éditions du Vieux-Port SAS",
        address=Address(street="8, quai de Rive-Neuve", city="Marseille", postal_code="13007",
                        country="FR"),
        tax_id="FR40303265045", number="C-000205",
    )  # fmt: skip
    return issued(
        [
            line("Mise à jour de la plateforme – forfait annuel", 1, 4200, tax_rate=D(20)),
            line("Livre « Les données à l’œuvre », édition reliée", 12, "29.90", tax_rate=D("5.5")),
            line("Œuvres complètes, cœur de gamme", 1, "1234.5", tax_rate=D("5.5"),
                 discount_percent=D("12.5")),
        ],
        buyer=buyer, language="fr", logo=logo(),
    )  # fmt: skip


def spanish_credit_note() -> InvoiceDocument:
    buyer = Party(
        name="Construcciones Peñalver, S.A.",
        address=Address(street="Calle de Alcalá, 200", city="Madrid", postal_code="28028",
                        country="ES"),
        tax_id="ESA28015865", number="C-000311",
    )  # fmt: skip
    return issued(
        [line("Devolución: módulo de señalización (año en garantía)", 2, "845.10",
              tax_rate=D(21))],
        type="CreditNote", number="CN-2026-00003", buyer=buyer, language="es", logo=logo(),
        credited=CreditedInvoice(number="INV-2026-00002", issue_date=date(2026, 1, 15)),
        amount_due=D(0),
    )  # fmt: skip


def polish() -> InvoiceDocument:
    buyer = Party(
        name="Żółć i Gęśla Sp. z o.o.",
        address=Address(street="ul. Świętokrzyska 31/33", city="Łódź", postal_code="90-001",
                        country="PL"),
        tax_id="PL5260250995", number="C-000402",
    )  # fmt: skip
    return issued(
        [
            line("Wdrożenie systemu – analiza i próby odbiorcze", "37.5", 210, unit_code="HUR",
                 tax_rate=D(23)),
            line("Książka „Źródła danych”", 7, "49.99", tax_rate=D(5)),
        ],
        buyer=buyer, language="pl", currency="PLN",
        bank=BankAccount(iban="PL61109010140000071219812874", bic="WBKPPLPP"),
    )  # fmt: skip


def many_scripts() -> InvoiceDocument:
    buyer = Party(
        name="Ωμέγα Λογισμικό Α.Ε. · Омега · オメガ · 오메가",
        address=Address(street="Πανεπιστημίου 42", city="Αθήνα", postal_code="106 79",
                        country="GR"),
    )  # fmt: skip
    return issued(
        [
            line("Ελληνικά: Υπηρεσίες φιλοξενίας και συντήρησης", 1, 100),
            line("Русский и українська: їжак, ґанок, объём", 1, 100),
            line("العربية: خدمات الاستضافة لمدة 12 شهرًا (الدفعة 1)", 1, 100),
            line("עברית: שירותי אחסון לשנת 2026", 1, 100),
            line("中文：云服务年费　日本語：保守サービス　한국어: 유지 보수", 1, 100),
            line("Emoji 🎉 👩‍🚀 🇪🇺 and arrows → ✓ ½ ² ‰ № ∑", 1, 100),
            line("ไทย เทียบกับ हिन्दी und Tiếng Việt, Íslenska þ ð", 1, 100),
        ],
        buyer=buyer, language="en",
    )  # fmt: skip


def thousand_lines() -> InvoiceDocument:
    return issued(
        [
            line(f"Artikel {number:04d}, Größe {number % 40 + 1}", number % 12 + 1,
                 D(number * 131 % 9973) / 100 + 1, product_code=f"A-{number:05d}",
                 tax_rate=D((19, 7)[number % 5 == 0]))
            for number in range(1, THOUSAND + 1)
        ],
        logo=logo(),
    )  # fmt: skip


LANGUAGE_SAMPLES: Mapping[str, Callable[[], InvoiceDocument]] = {
    "english": english,
    "french": french,
    "spanish-credit-note": spanish_credit_note,
    "polish": polish,
    "many-scripts": many_scripts,
    "thousand-lines": thousand_lines,
}

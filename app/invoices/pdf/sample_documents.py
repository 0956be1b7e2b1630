"""Documents that show what an invoice may look like, one of each kind that people ask about."""

# ruff: noqa: RUF001 (the texts are in many scripts, with letters that look alike)

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, timedelta
from decimal import Decimal
from io import BytesIO
from typing import Any

from PIL import Image, ImageDraw

from app.invoices.composing import compose
from app.invoices.document import (
    Address,
    BankAccount,
    CreditedInvoice,
    DocumentLine,
    InvoiceDocument,
    Party,
    PaymentEntry,
)

D = Decimal
_DAY = date(2026, 3, 2)

_SELLER = Party(
    name="Nordlicht Software",
    legal_name="Nordlicht Software GmbH",
    address=Address(street="Hafenstraße 12", city="Hamburg", postal_code="20457", country="DE"),
    tax_id="DE136695976",
    registration_number="HRB 12345",
    email="billing@nordlicht.example",
    phone="+49 40 123 45 67",
    website="www.nordlicht.example",
)
_BANK = BankAccount(
    iban="DE89370400440532013000", bic="COBADEFFXXX", bank_name="Commerzbank Hamburg"
)
_BUYER = Party(
    name="Müller & Söhne KG",
    address=Address(street="Lindenallee 48", city="Köln", postal_code="50667", country="DE"),
    tax_id="DE811128135",
    contact_name="Sabine Müller",
    number="C-000042",
)


def line(description: str, quantity: object, price: object, **values: Any) -> DocumentLine:
    """A line at 19 % unless said otherwise; its amounts are worked out by ``compose``."""
    given = {"tax_rate": D(19), "line_net": D(0), "line_total": D(0)}
    return DocumentLine(
        description=description, quantity=D(str(quantity)), unit_price=D(str(price)),
        **{**given, **values},
    )  # fmt: skip


def issued(lines: list[DocumentLine], **values: Any) -> InvoiceDocument:
    """An issued invoice of the sample seller."""
    given: dict[str, Any] = {
        "number": "INV-2026-00007", "issue_date": _DAY, "due_date": _DAY + timedelta(days=30),
        "seller": _SELLER, "buyer": _BUYER, "bank": _BANK, "language": "de",
    }  # fmt: skip
    return compose(lines, **{**given, **values})


def logo() -> bytes:
    """A wordmark of plain shapes, as a PNG with transparency."""
    picture = Image.new("RGBA", (720, 200), (0, 0, 0, 0))
    pen = ImageDraw.Draw(picture)
    pen.rounded_rectangle((0, 10, 180, 190), 36, fill=(26, 61, 102, 255))
    pen.polygon([(40, 150), (90, 40), (140, 150)], fill=(120, 200, 190, 255))
    for place, width in enumerate((420, 300, 360)):
        top = 40 + place * 48
        pen.rounded_rectangle((220, top, 220 + width, top + 24), 12, fill=(26, 61, 102, 255))
    stream = BytesIO()
    picture.save(stream, "PNG")
    return stream.getvalue()


def german(*, with_logo: bool = True) -> InvoiceDocument:
    return issued(
        [
            line("Beratung Datenmodell\nVor Ort in Köln, einschließlich Anreise", 12, 115,
                 unit_code="HUR", period_start=date(2026, 2, 2), period_end=date(2026, 2, 13)),
            line("Lizenz Plattform, 25 Arbeitsplätze", 25, "18.50", unit_code="MON",
                 product_code="NL-PL-25", discount_percent=D(10)),
            line("Fachbuch „Gute Daten“", 3, "34.90", tax_rate=D(7), product_code="B-0815"),
        ],
        logo=logo() if with_logo else None,
        service_date=date(2026, 2, 27), purchase_order="4500012345",
        buyer_reference="Kst. 4711", notes="Vielen Dank für die gute Zusammenarbeit!",
        terms="Zahlbar innerhalb von 30 Tagen ohne Abzug.",
    )  # fmt: skip


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
    return issued(lines, logo=logo(), discount_percent=D(5))


def draft() -> InvoiceDocument:
    return issued(
        [line("Workshop", 1, 1800), line("Travel expenses", 1, "243.60")],
        state="Draft",
        number=None,
        issue_date=None,
        due_date=None,
        language="en",
    )


def paid() -> InvoiceDocument:
    payments = (
        PaymentEntry(paid_on=date(2026, 3, 9), amount=D("500.00"), method="card"),
        PaymentEntry(paid_on=date(2026, 3, 20), amount=D("690.00"), method="transfer"),
    )
    return issued(
        [line("Annual subscription, team plan", 1, 1000, unit_code="ANN")],
        state="Paid",
        payments=payments,
        language="en-GB",
        logo=logo(),
    )


def part_paid_gross() -> InvoiceDocument:
    seller = Party(
        name="Café Lumière", legal_name="Café Lumière SARL", tax_id="FR40303265045",
        address=Address(
            street="12 rue des Abbesses", city="Paris", postal_code="75018", country="FR"
        ),
        registration_number="303 265 045 RCS Paris", email="bonjour@lumiere.example",
    )  # fmt: skip
    return issued(
        [
            line("Traiteur : buffet pour 40 personnes", 40, "24.90", tax_rate=D(10)),
            line("Location de vaisselle", 1, "180.00", tax_rate=D(20)),
            line("Vin de Loire, bouteille", 18, "15.60", tax_rate=D(20)),
        ],
        language="fr", prices_include_tax=True, discount_percent=D("2.5"), seller=seller,
        bank=BankAccount(iban="FR1420041010050500013M02606", account_holder="Café Lumière SARL"),
        payments=(PaymentEntry(paid_on=date(2026, 3, 1), amount=D("400.00"), method="cheque"),),
    )  # fmt: skip


def credit_note(*, with_logo: bool = True) -> InvoiceDocument:
    return issued(
        [line("Rücknahme: Lizenz Plattform, 5 Arbeitsplätze", 5, "18.50", unit_code="MON")],
        type="CreditNote",
        number="CN-2026-00002",
        due_date=None,
        logo=logo() if with_logo else None,
        credited=CreditedInvoice(number="INV-2026-00007", issue_date=date(2026, 2, 2)),
    )


def void() -> InvoiceDocument:
    return issued([line("Servicio de consultoría", 8, "95.00", unit_code="HUR",
                        tax_rate=D(21))], state="Void", language="es")  # fmt: skip


def intra_community() -> InvoiceDocument:
    buyer = Party(
        name="Przedsiębiorstwo Usługowo-Handlowe „Świt” sp. z o.o.", tax_id="PL5260250274",
        address=Address(
            street="ul. Świętokrzyska 35 m. 7", city="Łódź", postal_code="90-001", country="PL"
        ),
        number="C-000107",
    )  # fmt: skip
    free = {"tax_rate": D(0), "tax_category": "K", "unit_code": "KGM",
            "tax_exemption_reason": "Art. 138 Dyrektywy 2006/112/WE"}  # fmt: skip
    return issued(
        [line("Żywica epoksydowa, beczka 200 kg", 1200, "7.8550", **free),
         line("Utwardzacz szybkoschnący", "84.5", "12.40", **free)],
        language="pl", buyer=buyer, currency="PLN", service_date=_DAY,
    )  # fmt: skip


def right_to_left() -> InvoiceDocument:
    buyer = Party(
        name="شركة النور للتجارة ذ.م.م",
        address=Address(street="شارع الشيخ زايد 14\nبرج الأعمال, الطابق 3", city="دبي",
                        country="AE"),
        contact_name="ליאת כהן", number="C-000311",
    )  # fmt: skip
    free = {"tax_rate": D(0), "tax_category": "G", "tax_exemption_reason": "Export"}
    return issued(
        [
            line("خدمات استشارية (مارس 2026) – المرحلة 1", 10, 150, unit_code="HUR", **free),
            line("תוכנה לניהול לקוחות, רישיון ל-25 משתמשים (שנה)", 1, 2400, **free),
            line("Hosting «Enterprise» für شركة النور", 12, "49.90", unit_code="MON", **free),
        ],
        language="en", buyer=buyer, currency="USD", notes="شكرا لتعاملكم معنا.",
    )  # fmt: skip


def east_asian() -> InvoiceDocument:
    buyer = Party(
        name="株式会社山田製作所", number="C-000512",
        address=Address(street="丸の内1丁目2番3号\n山田ビル8階", city="東京都千代田区",
                        postal_code="100-0005", country="JP"),
    )  # fmt: skip
    free = {"tax_rate": D(0), "tax_category": "O", "tax_exemption_reason": "Outside the EU"}
    return issued(
        [
            line("クラウドサービス利用料（2026年3月分）。データ移行支援、運用監視、"
                 "および利用者向けの研修を含みます。", 1, 480000, **free),
            line("软件许可证：企业版，包含一年的技术支持和升级服务", 5, 36000, **free),
            line("기술 지원 서비스 (프리미엄)", 3, 25000, unit_code="MON", **free),
            line("Sticker set 😀 👩‍💻 🇯🇵 ✓ ★", 100, 120, **free),
        ],
        language="en", buyer=buyer, currency="JPY", bank=_BANK, logo=logo(),
    )  # fmt: skip


def russian() -> InvoiceDocument:
    buyer = Party(
        name="ТОО «Северный ветер»", number="C-000099",
        address=Address(street="проспект Абая 52, офис 301", city="Алматы",
                        postal_code="050008", country="KZ"),
    )  # fmt: skip
    return issued(
        [
            line("Разработка и сопровождение информационной системы учёта", 164, "3200.00",
                 unit_code="HUR", tax_rate=D(20)),
            line("Обучение сотрудников", 2, "45000", unit_code="DAY", tax_rate=D(20),
                 discount_percent=D("12.5")),
        ],
        language="ru", buyer=buyer, currency="RUB",
    )  # fmt: skip


def hostile() -> InvoiceDocument:
    marks = "\u0315\u0357\u0350\u0343\u0323\u0333"
    buyer = Party(
        name='<script>alert("x")</script> & <img src="file:///etc/passwd">',
        address=Address(
            street="A" * 120, city="../../../../etc/passwd\x00%n%s", postal_code="=1+1",
            country="DE",
        ),
        number="'; DROP TABLE invoices; --",
    )  # fmt: skip
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


SAMPLES: Mapping[str, Callable[[], InvoiceDocument]] = {
    "german": german,
    "many-pages": many_pages,
    "draft": draft,
    "paid": paid,
    "part-paid-gross": part_paid_gross,
    "credit-note": credit_note,
    "void": void,
    "intra-community": intra_community,
    "right-to-left": right_to_left,
    "east-asian": east_asian,
    "russian": russian,
    "long-description": italian_long_description,
    "hostile": hostile,
}

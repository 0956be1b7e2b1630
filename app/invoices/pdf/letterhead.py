"""What frames the pages: logo and title, the address window, the facts, heads and feet."""

from __future__ import annotations

from collections.abc import Iterator

from stdnum import iban

from app.invoices.document import Address, Party
from app.invoices.einvoice.terms import invoicing_period, tax_ids
from app.invoices.pdf import style
from app.invoices.pdf.drawing import MM, Page, Picture, Rule
from app.invoices.pdf.logo import read_logo
from app.invoices.pdf.paper import Paper
from app.invoices.plain_text import clean, one_line
from app.invoices.wording import kind_of, title_of

_FACTS_WIDTH = style.RIGHT - style.FACTS_LEFT
_LABEL_SHARE = 0.46
_BETWEEN_FACTS = 1.5
_MOST_ADDRESS_LINES = 10
_MOST_FOOT_LINES = 5


def draw_first_head(paper: Paper) -> None:
    """Logo, title, address and facts of the first page."""
    page = paper.page
    _draw_logo(paper, page)
    _draw_title(paper, page)
    bottom = max(_draw_address(paper, page), _draw_facts(paper, page))
    paper.top = max(bottom + 6 * MM, style.BODY_TOP)


def draw_following_head(paper: Paper) -> None:
    """One line that says what this is a page of."""
    document = paper.document
    parts = [title_of(document), one_line(document.seller.registered_name)]
    if document.issue_date:
        parts.insert(1, paper.formats.day(document.issue_date))
    line = paper.set.shortened("  ·  ".join(parts), style.SMALL, style.WIDTH)
    paper.set.put(paper.page, style.LEFT, style.HEAD_TOP, line, style.SMALL)
    rule = style.HEAD_TOP + style.SMALL.leading + 2
    paper.page.marks.append(Rule(style.LEFT, rule, style.RIGHT, rule, 0.5, style.HAIRLINE))


def draw_feet(paper: Paper) -> None:
    """The seller's data and the page number at the foot of every page."""
    columns = [list(_seller_lines(paper)), list(_contact_lines(paper)), list(_bank_lines(paper))]
    count = len(paper.pages)
    for number, page in enumerate(paper.pages, start=1):
        top = style.FOOT_TOP
        page.marks.append(Rule(style.LEFT, top, style.RIGHT, top, 0.5, style.HAIRLINE))
        width = style.WIDTH / 3
        for index, column in enumerate(columns):
            for row, line in enumerate(column[:_MOST_FOOT_LINES]):
                face = style.FOOT_STRONG if index == row == 0 else style.FOOT
                left, at = style.LEFT + index * width, top + 4 + row * style.FOOT.leading
                paper.set.fit(page, left, at, line, face, width - 4 * MM)
        page_number = paper.texts("footer.page", page=str(number), pages=str(count))
        below = top + 6 + _MOST_FOOT_LINES * style.FOOT.leading
        paper.set.put(page, style.RIGHT, below, page_number, style.FOOT, "right")


def _draw_logo(paper: Paper, page: Page) -> None:
    logo = read_logo(paper.document.logo)
    if logo is None:
        name = one_line(paper.document.seller.name)
        width = style.FACTS_LEFT - style.LEFT - 6 * MM
        lines = paper.set.lines(name, style.SELLER, width)[:2]
        for row, line in enumerate(lines):
            top = style.LOGO_TOP + row * style.SELLER.leading
            paper.set.fit(page, style.LEFT, top, line, style.SELLER, width)
        return
    scale = min(style.LOGO_WIDTH / logo.columns, style.LOGO_HEIGHT / logo.rows)
    width, height = logo.columns * scale, logo.rows * scale
    page.marks.append(
        Picture(style.LEFT, style.LOGO_TOP, width, height, logo.pixels, logo.columns, logo.rows)
    )


def _draw_title(paper: Paper, page: Page) -> None:
    left, top = style.FACTS_LEFT, style.LOGO_TOP - 1.5 * MM
    paper.set.fit(page, left, top, kind_of(paper.document), style.TITLE, _FACTS_WIDTH)
    number = one_line(paper.document.number) or paper.texts("marks.draft")
    below = top + style.TITLE.leading + 2
    paper.set.fit(page, left, below, number, style.NUMBER, _FACTS_WIDTH)


def _draw_address(paper: Paper, page: Page) -> float:
    """The return line and the recipient, where the window of the envelope shows them."""
    seller = paper.document.seller
    town = " ".join(
        part for part in (one_line(seller.address.postal_code), one_line(seller.address.city))
        if part
    )  # fmt: skip
    parts = (seller.registered_name, seller.address.street, town)
    sender = "  ·  ".join(text for text in map(one_line, parts) if text)
    top = style.ADDRESS_TOP
    paper.set.fit(page, style.LEFT, top, sender, style.RETURN_LINE, style.ADDRESS_WIDTH)
    rule = top + style.RETURN_LINE.leading
    page.marks.append(
        Rule(style.LEFT, rule, style.LEFT + style.ADDRESS_WIDTH, rule, 0.4, style.HAIRLINE)
    )
    top = rule + 2.5 * MM
    buyer = paper.document.buyer
    name = one_line(buyer.registered_name)
    rows = [(name, style.ADDRESS_STRONG)]
    if buyer.contact_name:
        contact = paper.texts("labels.contact", name=one_line(buyer.contact_name))
        rows.append((contact, style.ADDRESS))
    abroad = buyer.address.country != seller.address.country
    rows += [(line, style.ADDRESS) for line in address_lines(paper, buyer.address, abroad)]
    lines = [
        (line, face)
        for text, face in rows
        for line in paper.set.lines(text, face, style.ADDRESS_WIDTH)
    ]
    for line, face in lines[:_MOST_ADDRESS_LINES]:
        paper.set.put(page, style.LEFT, top, line, face)
        top += face.leading
    return top


def address_lines(paper: Paper, address: Address, with_country: bool) -> list[str]:
    """The lines of an address; the country in capitals, as the post wants it, if asked for."""
    lines = [line.strip() for line in clean(address.street).split("\n")]
    lines.append(
        " ".join(part for part in (one_line(address.postal_code), one_line(address.city)) if part)
    )
    lines.append(one_line(address.state))
    if with_country and address.country:
        name = paper.formats.locale.territories.get(address.country, address.country)
        lines.append(name.upper())
    return [line for line in lines if line]


def _draw_facts(paper: Paper, page: Page) -> float:
    top = style.ADDRESS_TOP
    labels = _FACTS_WIDTH * _LABEL_SHARE
    for label, value in _facts(paper):
        paper.set.fit(page, style.FACTS_LEFT, top, label, style.LABEL, labels - 2 * MM)
        left = style.FACTS_LEFT + labels
        end = paper.set.paragraph(page, left, top, value, style.BODY, _FACTS_WIDTH - labels)
        top = end + _BETWEEN_FACTS
    return top


def _facts(paper: Paper) -> Iterator[tuple[str, str]]:
    """Label and value of everything that a bookkeeper looks for first."""
    document, day = paper.document, paper.formats.day
    credit = document.is_credit_note
    number = "labels.credit_note_number" if credit else "labels.number"
    period = invoicing_period(document)
    credited = document.credited
    vat = tax_ids(document.buyer)
    facts = (
        (number, one_line(document.number)),
        ("labels.date", day(document.issue_date) if document.issue_date else ""),
        ("labels.due_date", day(document.due_date) if document.due_date and not credit else ""),
        ("labels.credited_invoice", one_line(credited.number) if credited else ""),
        ("labels.service_date", day(document.service_date) if document.service_date else ""),
        (
            "labels.service_period",
            f"{day(period[0])} \u2013 {day(period[1])}" if period else "",
        ),
        ("labels.customer_number", one_line(document.buyer.number)),
        ("labels.buyer_tax_id", vat.vat or vat.local),
        ("labels.purchase_order", one_line(document.purchase_order)),
        ("labels.buyer_reference", one_line(document.buyer_reference)),
        ("labels.reference", one_line(document.reference)),
    )
    for label, value in facts:
        if value:
            yield paper.texts(label), value


def _seller_lines(paper: Paper) -> Iterator[str]:
    seller = paper.document.seller
    yield one_line(seller.registered_name)
    yield from address_lines(paper, seller.address, with_country=True)


def _contact_lines(paper: Paper) -> Iterator[str]:
    seller, texts = paper.document.seller, paper.texts
    if phone := one_line(seller.phone):
        yield f"{texts('footer.phone')} {phone}"
    yield from filter(None, (one_line(seller.email), one_line(seller.website)))
    yield from _registrations(paper, seller)


def _registrations(paper: Paper, seller: Party) -> Iterator[str]:
    ids = tax_ids(seller)
    if ids.vat:
        yield f"{paper.texts('footer.tax_id')} {ids.vat}"
    if ids.local:
        yield f"{paper.texts('footer.tax_number')} {ids.local}"
    if number := one_line(seller.registration_number):
        yield f"{paper.texts('footer.registration')} {number}"


def _bank_lines(paper: Paper) -> Iterator[str]:
    bank = paper.document.bank
    if bank is None:
        return
    if name := one_line(bank.bank_name):
        yield name
    yield f"{paper.texts('payment.iban')} {iban.format(one_line(bank.iban))}"
    if bic := one_line(bank.bic):
        yield f"{paper.texts('payment.bic')} {bic}"

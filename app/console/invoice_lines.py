"""The lines in the form of an invoice: as they are known, as they were typed, as they are sent."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from app.console.language import marked
from app.console.numbers import number_text, typed_number
from app.invoices.lines import LINE_ITEM, complete, line_totals
from app.models.invoice import TAX_CATEGORIES
from app.settings import organisation
from app.written.numbers import NoNumberError

# Rows that are offered for more lines; a script adds others.
EMPTY_ROWS = 3
# A draft with more lines than these is changed without them.
MOST_ROWS = 200
LINES = "LineItems"


@dataclass(frozen=True)
class LineField:
    """A column of the form; ``places`` are the decimals of a number, ``options`` of a choice."""

    name: str
    label: str
    places: int | None = None
    required: bool = False
    options: Sequence[str] = ()

    @property
    def is_number(self) -> bool:
        """Whether a number is typed into it."""
        return self.places is not None


FIELDS = (
    LineField("description", marked("Description"), required=True),
    LineField("quantity", marked("Quantity"), places=4),
    LineField("unitPrice", marked("Unit price"), places=4, required=True),
    LineField("discountPercent", "Discount %", places=2),
    LineField("taxRate", "Tax %", places=2),
    LineField("taxCategory", marked("Tax kind"), options=TAX_CATEGORIES),
    LineField("taxExemptionReason", marked("Why no tax")),
)
_ATTRIBUTES = {LINE_ITEM.wire(attribute): attribute for attribute in LINE_ITEM.writable}
_NAMED = re.compile(r"line\.(\d{1,4})\.(\w+)")
_PLACE = re.compile(r"LineItems\[(\d+)\](?:\.(\w+))?")


@dataclass(frozen=True)
class Line:
    """A row of the form: texts by the names of properties; ``id`` of one that is known."""

    id: str
    values: Mapping[str, str]

    @property
    def is_empty(self) -> bool:
        """Whether nothing was typed that makes a line: kind and rate of tax alone do not."""
        return not any(self.values.get(name) for name in ("description", "unitPrice"))


def shown_lines(rows: Sequence[Mapping[str, Any]]) -> list[Line]:
    """Known lines, and rows for more."""
    known = [
        Line(str(row["id"]), {each.name: _text(row.get(each.name)) for each in FIELDS})
        for row in rows
    ]
    return [*known, *_empty(EMPTY_ROWS)]


def typed_lines(form: Mapping[str, str]) -> list[Line]:
    """The rows as they were typed, in their order, the empty ones left out."""
    found: dict[int, dict[str, str]] = {}
    for name, text in form.items():
        if part := _NAMED.fullmatch(name):
            found.setdefault(int(part[1]), {})[part[2]] = text.strip()
    lines = [Line(values.pop("id", ""), values) for _, values in sorted(found.items())]
    return [line for line in lines if not line.is_empty]


def with_empty_rows(lines: Sequence[Line]) -> list[Line]:
    """Typed rows, and rows for more."""
    return [*lines, *_empty(EMPTY_ROWS)]


def lines_body(lines: Sequence[Line]) -> tuple[list[dict[str, Any]], list[tuple[str, str]]]:
    """``LineItems`` of a body, and what is no number: (place, text)."""
    body: list[dict[str, Any]] = []
    problems: list[tuple[str, str]] = []
    for index, line in enumerate(lines):
        made: dict[str, Any] = {"id": int(line.id)} if line.id.isdecimal() else {}
        for each in FIELDS:
            text = line.values.get(each.name, "")
            if not text:
                # A line that is known keeps what the body leaves out.
                if each.required or line.id:
                    made[each.name] = Decimal(0) if each.name == "discountPercent" else None
                continue
            try:
                made[each.name] = typed_number(text, each.places) if each.is_number else text
            except NoNumberError as error:
                problems.append((f"{LINES}[{index}].{each.name}", str(error)))
        body.append(made)
    return body, problems


def are_changed(lines: Sequence[Line], rows: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the rows that were typed say anything else than the known lines."""
    known = [(line.id, dict(line.values)) for line in shown_lines(rows) if line.id]
    return known != [(line.id, dict(line.values)) for line in lines]


def typed_totals(
    lines: Sequence[Line], *, currency: str, discount: str, prices_include_tax: bool
) -> dict[str, Any] | None:
    """The amounts of the rows that are complete, as the service would compute them; None of none.

    ``left_out`` counts the rows that are not.
    """
    whole = [values for line in lines if (values := _priced(line)) is not None]
    try:
        percent = typed_number(discount, 2) if discount.strip() else Decimal(0)
    except NoNumberError:
        percent = Decimal(0)
    if not whole:
        return None
    totals = line_totals(
        complete(whole, organisation()), currency=currency, discount_percent=percent,
        prices_include_tax=prices_include_tax,
    )  # fmt: skip
    return {
        "subtotal": totals.subtotal,
        "discountTotal": totals.discount_total,
        "discountPercent": percent,
        "taxBreakdown": [
            {"taxCategory": group.tax_category, "taxRate": group.tax_rate,
             "taxable": group.taxable, "tax": group.tax}
            for group in totals.groups
        ],
        "total": totals.total,
        "currency": currency,
        "left_out": len(lines) - len(whole),
    }  # fmt: skip


def _priced(line: Line) -> dict[str, Any] | None:
    """What a row says of its amount, in the words of the service; None where it is not complete."""
    values: dict[str, Any] = {}
    for each in FIELDS:
        text = line.values.get(each.name, "")
        if not text:
            if each.name == "unitPrice":
                return None
            continue
        try:
            value = typed_number(text, each.places) if each.is_number else text
        except NoNumberError:
            return None
        values[_ATTRIBUTES[each.name]] = value
    return values


def line_problems(problems: Mapping[str, str]) -> dict[int, dict[str, str]]:
    """Row -> field -> what is wrong with it, from problems by their place in the body.

    What is wrong with a field that the form does not have is said at the description.
    """
    named = {each.name for each in FIELDS}
    found: dict[int, dict[str, str]] = {}
    for place, text in problems.items():
        if part := _PLACE.fullmatch(place):
            is_shown = part[2] in named
            field = part[2] if is_shown else "description"
            said = text if is_shown else f"{part[2] or ''} {text}".strip()
            known = found.setdefault(int(part[1]), {})
            known[field] = f"{known[field]}; {said}" if field in known else said
    return found


def is_of_line(place: str) -> bool:
    """Whether a problem is told beside a row."""
    return _PLACE.fullmatch(place) is not None


def _empty(count: int) -> list[Line]:
    return [Line("", {}) for _ in range(count)]


def _text(value: Any) -> str:
    if value is None:
        return ""
    return number_text(value.normalize()) if isinstance(value, Decimal) else str(value)

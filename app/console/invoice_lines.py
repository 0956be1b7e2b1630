"""The lines in the form of an invoice: as they are known, as they were typed, as they are sent.

A form has so many lines as can be worked with: of a longer invoice it has a part, and the lines
before and after it stay as they are; of more that were typed it draws some, and carries the others.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from itertools import zip_longest
from typing import Any

from app.console.language import marked
from app.console.named_codes import UNIT, code_name, typed_code
from app.console.numbers import number_text, typed_number
from app.console.references import KINDS, all_named, find, named
from app.console.typed import MistypedError, noted_at
from app.container.engine import read_one
from app.db import records
from app.errors import ApiError
from app.invoices.lines import LINE_ITEM, complete, line_totals
from app.invoices.products import other_price, values_of
from app.localisation.numbers import NoNumberError
from app.models.invoice import TAX_CATEGORIES
from app.models.product import Product
from app.settings import organisation
from app.writing.validation import too_many

# Rows that are offered for more lines; a script adds others.
EMPTY_ROWS = 3
# So many known lines a form has, and so many of those that were typed it draws of a kind.
ROWS = 25
# More that were typed are not all drawn.
_ALL_DRAWN = 2 * ROWS
# The field that carries those that are not.
CARRIED = "carried"
LINES = "LineItems"
# A line as it was read.
Row = Mapping[str, Any]


@dataclass(frozen=True)
class LineField:
    """A column of the form; ``places`` are the decimals of a number, ``options`` of a choice.

    ``choices`` is the list whose records are suggested, ``usual`` what an empty field stands for.
    """

    name: str
    label: str
    places: int | None = None
    required: bool = False
    options: Sequence[str] = ()
    choices: str = ""
    usual: str = ""

    @property
    def is_number(self) -> bool:
        return self.places is not None


PRODUCT = "productId"
FIELDS = (
    LineField(PRODUCT, marked("Product"), choices="products"),
    LineField("description", marked("Description"), required=True),
    LineField("quantity", marked("Quantity"), places=4, usual="1"),
    LineField(UNIT, marked("Unit"), usual=LINE_ITEM.defaults["unit_code"]),
    LineField("unitPrice", marked("Unit price"), places=4, required=True),
    LineField("discountPercent", marked("Discount %"), places=2, usual="0"),
    LineField("taxRate", marked("Tax %"), places=2),
    LineField("taxCategory", marked("Tax kind"), options=TAX_CATEGORIES),
    LineField("taxExemptionReason", marked("Why no tax")),
)
# What of a line a form carries, what is seldom typed last.
_IN_ORDER = (
    "id", "description", "quantity", "unitPrice", PRODUCT, UNIT, "taxRate", "discountPercent",
    "taxCategory", "taxExemptionReason", "was",
)  # fmt: skip
_MAKES_A_LINE = (PRODUCT, "description", "unitPrice")
_CENTS = Decimal("0.01")
# What a product gives a row.
TAKEN = (
    "description", "unitCode", "unitPrice", "taxRate", "taxCategory", "taxExemptionReason",
)  # fmt: skip
_ATTRIBUTES = {LINE_ITEM.wire(attribute): attribute for attribute in LINE_ITEM.writable}
# What of a known line the form and its totals are made of.
READ = ",".join(dict.fromkeys(("id", *(each.name for each in FIELDS), *_ATTRIBUTES)))
_NAMED = re.compile(r"line\.(\d{1,4})\.(\w+)")
_PLACE = re.compile(r"LineItems\[(\d+)\](?:\.(\w+))?")


@dataclass(frozen=True)
class Line:
    """A row of the form: texts by the names of properties; ``id`` of one that is known.

    ``was`` are the texts that it had when it was shown, or when it took over those of a product:
    what differs was typed. ``number`` is that of its row in the form that came back.
    """

    id: str
    values: Mapping[str, str]
    was: Mapping[str, str] = field(default_factory=dict)
    number: int | None = None

    @property
    def was_text(self) -> str:
        """``was`` as a field of the form carries it."""
        texts = [self.was.get(name, "") for name in (PRODUCT, *TAKEN)]
        return json.dumps(texts, ensure_ascii=False) if any(texts) else ""

    @property
    def is_empty(self) -> bool:
        """Whether it is to be left out.

        A new one in which nothing was typed (a kind of tax is chosen already), and one that is
        known and whose product, text and price were taken away.
        """
        typed = _MAKES_A_LINE if self.id else [each.name for each in FIELDS if not each.options]
        return not any(self.values.get(name) for name in typed)


@dataclass(frozen=True)
class DrawnLines:
    """The lines that a page draws, by their places among all of the form.

    ``carried`` are the others as a field of the form has them, ``hidden_wrong`` counts those of
    them with a problem. ``before`` and ``after`` are the first places of the pages around.
    """

    lines: Sequence[tuple[int, Line]]
    carried: str = ""
    hidden: int = 0
    hidden_wrong: int = 0
    before: int | None = None
    after: int | None = None


def drawn_of(
    lines: Sequence[Line], wrong: Iterable[int], filled: Iterable[int], first: int
) -> DrawnLines:
    """What a page draws of the lines of a form: all of a few, else a page of them, and the first
    of those that have to be looked at.

    Args:
        wrong: places of lines with a problem.
        filled: places of lines that took something over from their product just now.
        first: the index with which the page begins.
    """
    typed = [index for index, line in enumerate(lines) if not line.is_empty]
    if len(typed) <= _ALL_DRAWN:
        return DrawnLines(list(enumerate(lines)))
    first = min(first, typed[-1]) // ROWS * ROWS
    wrong, filled = sorted(wrong), sorted(filled)
    chosen = {*wrong[:ROWS], *filled[:ROWS], *range(first, first + ROWS)}
    carried = [index for index in typed if index not in chosen]
    return DrawnLines(
        [(index, line) for index, line in enumerate(lines) if index in chosen or line.is_empty],
        json.dumps(
            [_packed(index, lines[index]) for index in carried],
            ensure_ascii=False,
            separators=(",", ":"),
        ),
        len(carried),
        len({*wrong} - chosen),
        first - ROWS if first else None,
        first + ROWS if first + ROWS <= typed[-1] else None,
    )


def _packed(index: int, line: Line) -> list[Any]:
    """``[3, 0, "Item", "1", "10"]``: the index, and the texts of ``_IN_ORDER`` to the last one."""
    texts = {**line.values, "id": line.id, "was": line.was_text}
    packed = [texts.get(name) or 0 for name in _IN_ORDER]
    while packed and not packed[-1]:
        packed.pop()
    return [index, *packed]


@dataclass(frozen=True)
class Part:
    """The lines that a form has, and those around them."""

    before: Sequence[Row]
    rows: Sequence[Row]
    after: Sequence[Row]

    @property
    def is_whole(self) -> bool:
        """Whether the form has all lines."""
        return not self.before and not self.after

    @property
    def keys(self) -> str:
        """Which lines the form has, as it carries it; empty for all."""
        return "" if self.is_whole else ",".join(str(row["id"]) for row in self.rows)

    @property
    def others(self) -> list[tuple[int, int, bool]]:
        """Every part of the invoice: its first line, its last, and whether it is this one."""
        total = len(self.before) + len(self.rows) + len(self.after)
        first = len(self.before) // ROWS * ROWS
        starts = range(0, total, ROWS) if total > ROWS else ()
        return [(at + 1, min(at + ROWS, total), at == first) for at in starts]


def part_at(rows: Sequence[Row], line: str) -> Part:
    """The part that has a line, which is named by its number; the first part for none."""
    number = int(line) if line.isdecimal() and len(line) < 6 else 1
    at = (min(max(number, 1), max(len(rows), 1)) - 1) // ROWS * ROWS
    return Part(rows[:at], rows[at : at + ROWS], rows[at + ROWS :])


def part_of(rows: Sequence[Row], keys: str) -> Part:
    """The part that a form had when it was made, of the lines that there are now.

    Args:
        keys: ``Part.keys``.
    """
    if not keys:
        return Part((), rows, ())
    inside = set(keys.split(","))
    places = [at for at, row in enumerate(rows) if str(row["id"]) in inside]
    first = places[0] if places else len(rows)
    return Part(
        rows[:first],
        [rows[at] for at in places],
        [row for row in rows[first:] if str(row["id"]) not in inside],
    )


def shown_lines(rows: Sequence[Mapping[str, Any]]) -> list[Line]:
    """Known lines, and rows for more."""
    keys = {row[PRODUCT] for row in rows} - {None}
    names = all_named(KINDS["Product"], sorted(keys))
    known = []
    for row in rows:
        texts = {each.name: _text(each.name, row.get(each.name)) for each in FIELDS}
        texts[PRODUCT] = names.get(row[PRODUCT], "")
        known.append(Line(str(row["id"]), texts, texts))
    return with_empty_rows(known)


def typed_lines(form: Mapping[str, str]) -> list[Line]:
    """The rows as they were typed, in their order, the empty ones left out."""
    rows = _carried(form.get(CARRIED, ""))
    for name, text in form.items():
        if part := _NAMED.fullmatch(name):
            rows.setdefault(int(part[1]), {})[part[2]] = text.strip()
    lines = [
        Line(values.pop("id", ""), values, _was(values.pop("was", "")), number)
        for number, values in sorted(rows.items())
    ]
    return [line for line in lines if not line.is_empty]


def _carried(text: str) -> dict[int, dict[str, str]]:
    """Lines that a form has carried, by their places; none of what is not readable."""
    try:
        return {
            int(index): {
                name: str(value or "")
                for name, value in zip_longest(_IN_ORDER, values[: len(_IN_ORDER)])
            }
            for index, *values in json.loads(text or "[]")
        }
    except (ValueError, TypeError):
        return {}


def _was(text: str) -> dict[str, str]:
    """``Line.was_text``, read again; nothing of what is none."""
    try:
        texts = json.loads(text) if text else []
    except ValueError:
        texts = []
    is_whole = isinstance(texts, list) and all(isinstance(each, str) for each in texts)
    return dict(zip((PRODUCT, *TAKEN), texts, strict=False)) if is_whole else {}


def with_products(
    lines: Iterable[Line], *, currency: str, prices_include_tax: bool
) -> tuple[list[Line], list[tuple[str, str]]]:
    """The rows, with the values of a product that was chosen in place of what nobody typed.

    Returns: the rows, and what is wrong with them: (place, text).
    """
    filled: list[Line] = []
    problems: list[tuple[str, str]] = []
    for index, line in enumerate(lines):
        typed = line.values.get(PRODUCT, "")
        if not typed or typed == line.was.get(PRODUCT, ""):
            filled.append(line)
            continue
        location = f"{LINES}[{index}]"
        product = None
        try:
            product = records.read(Product, find(KINDS["Product"], typed))
        except (MistypedError, ApiError) as error:
            problems.append((f"{location}.{PRODUCT}", str(error)))
        if product is None:
            filled.append(line)
            continue
        texts = dict.fromkeys(TAKEN, "") | _texts_of(product)
        if other := other_price(product, currency, prices_include_tax=prices_include_tax):
            texts["unitPrice"] = ""
            if line.values.get("unitPrice", "") == line.was.get("unitPrice", ""):
                problems.append((f"{location}.unitPrice", other))
        product_name = named(KINDS["Product"], product.id)
        untouched = {
            name: texts[name]
            for name in TAKEN
            if line.values.get(name, "") == line.was.get(name, "")
        }
        values = {**line.values, **untouched, PRODUCT: product_name}
        filled.append(replace(line, values=values, was={**texts, PRODUCT: product_name}))
    return filled, problems


def text_of_lines(lines: Sequence[Line]) -> str:
    """Lines as one text, to be compared: without the empty ones."""
    return json.dumps(
        [[line.id, sorted(line.values.items())] for line in lines if not line.is_empty]
    )


class LinesForm:
    """The lines in the form of a draft, as its record has them and as they were typed.

    ``part`` are those that the form has: as it says itself, or as the address asks for them.
    """

    def __init__(self, record: Mapping[str, Any], form: Mapping[str, str], line: str) -> None:
        """``record``: empty for a new one; ``line``: the number of the one that is asked for."""
        rows: Sequence[Row] = record.get(LINES, [])
        self.is_sent = "lines" in form
        self.part = part_of(rows, form.get("shown", "")) if self.is_sent else part_at(rows, line)
        self._record = record
        self._form = form

    @cached_property
    def known(self) -> list[Line]:
        """Those of the record, and rows for more."""
        return shown_lines(self.part.rows)

    @cached_property
    def typed(self) -> list[Line]:
        return typed_lines(self._form)

    @cached_property
    def filled(self) -> tuple[list[Line], list[tuple[str, str]]]:
        """The typed ones with the values of the products that were chosen, and what is wrong."""
        if refusal := self._too_many(len(self.typed)):
            return self.typed, [(LINES, refusal)]
        return with_products(
            self.typed,
            currency=self._currency(self._form),
            prices_include_tax=_include_tax(self._form),
        )

    def rows(self, joined: str | None) -> tuple[list[Line], Mapping[str, str]]:
        """The rows of the page, and what is wrong with them.

        Args:
            joined: ``text_of_lines`` of those that stand where two versions were joined.
        """
        if not self.is_sent:
            return self.known, {}
        lines, problems = self.filled
        if joined is None:
            return with_empty_rows(lines), dict(problems)
        if joined != text_of_lines(self.typed):
            return self.known, {}
        keys = {line.id for line in self.known}
        lines = [line if line.id in keys else replace(line, id="") for line in lines]
        return with_empty_rows(lines), {}

    def page_lines(self, lines: Sequence[Line], wrong: Iterable[int], first: int) -> DrawnLines:
        """What the page draws: the lines that it is asked for, that are wrong or were filled."""
        before = {line.number: line for line in self.typed}
        filled = [
            index for index, line in enumerate(lines)
            if line.number in before and before[line.number].values != line.values
        ]  # fmt: skip
        return drawn_of(lines, wrong, filled, first)

    def totals(self, lines: Sequence[Line], texts: Mapping[str, str]) -> dict[str, Any] | None:
        """The amounts of the lines in the form, in the currency that it names, or would get."""
        if self._record and not self._form:
            return {**self._record, "left_out": 0}
        typed = [line for line in lines if not line.is_empty]
        if self._too_many(len(typed)):
            return None
        return typed_totals(
            typed,
            self.part,
            currency=self._currency(texts),
            discount=texts.get("discountPercent", ""),
            prices_include_tax=_include_tax(texts),
        )

    def add_to(self, body: dict[str, Any], problems: list[tuple[str, str]]) -> None:
        """Add the lines to the body of the invoice if they were changed, or what is wrong."""
        if not are_changed(self.typed, self.part.rows):
            return
        lines, wrong = self.filled
        if LINES in dict(wrong):
            problems += wrong
            return
        typed, unread = lines_body(lines)
        body[LINES] = around(self.part, typed)
        refused = {location for location, _ in wrong}
        wrong = [*wrong, *(each for each in unread if each[0] not in refused)]
        at = len(self.part.before)
        problems += [(moved(location, at), text) for location, text in wrong]

    def _too_many(self, typed: int) -> str:
        return too_many(len(self.part.before) + typed + len(self.part.after))

    def _currency(self, texts: Mapping[str, str]) -> str:
        """That of the form or of the record, else that of the client, as the invoice gets it."""
        currency = texts.get("currency", "").strip().upper() or self._record.get("currency")
        if currency:
            return str(currency)
        try:
            key = find(KINDS["Client"], texts.get("clientId", ""))
            currency = read_one(f"Clients({key})", select="currency")["currency"]
        except (MistypedError, ApiError):
            currency = None
        return str(currency or organisation().defaults.currency)


def _include_tax(texts: Mapping[str, str]) -> bool:
    return texts.get("pricesIncludeTax") == "true"


def _texts_of(product: Product) -> dict[str, str]:
    """What a row shows of a product, with the tax that it would get."""
    (values,) = complete([values_of(product)], organisation())
    return {name: _text(name, values[_ATTRIBUTES[name]]) for name in TAKEN}


def around(part: Part, body: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """``LineItems`` of a body: the lines of the form, between those that stay as they are."""
    before, after = ([{"id": row["id"]} for row in rows] for rows in (part.before, part.after))
    return [*before, *map(dict, body), *after]


def with_empty_rows(lines: Sequence[Line]) -> list[Line]:
    return [*lines, *[Line("", {})] * EMPTY_ROWS]


def lines_body(lines: Sequence[Line]) -> tuple[list[dict[str, Any]], list[tuple[str, str]]]:
    """``LineItems`` of a body, and what is no number: (place, text)."""
    body: list[dict[str, Any]] = []
    problems: list[tuple[str, str]] = []
    for index, line in enumerate(lines):
        item: dict[str, Any] = {"id": int(line.id)} if line.id.isdecimal() else {}
        for each in FIELDS:
            text = line.values.get(each.name, "")
            if not text:
                # A line that is known keeps what the body leaves out.
                if line.id:
                    item[each.name] = _EMPTY.get(each.name)
                continue
            with noted_at(f"{LINES}[{index}].{each.name}", problems):
                item[each.name] = _value(each, text)
        body.append(item)
    return body, problems


# What an empty field says, where it is not null.
_EMPTY = {"discountPercent": Decimal(0), "unitCode": LINE_ITEM.defaults["unit_code"]}


def _value(column: LineField, text: str) -> Any:
    """What was typed as a value of the API.

    Raises: NoNumberError, MistypedError.
    """
    if column.is_number:
        return typed_number(text, column.places)
    if column.name == UNIT:
        return typed_code(UNIT, text)
    return find(KINDS["Product"], text) if column.choices else text


def are_changed(lines: Sequence[Line], rows: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the rows that were typed say anything else than the known lines."""
    values_by_line = [(line.id, dict(line.values)) for line in shown_lines(rows) if line.id]
    return values_by_line != [(line.id, dict(line.values)) for line in lines]


def typed_totals(
    lines: Sequence[Line], part: Part, *, currency: str, discount: str, prices_include_tax: bool
) -> dict[str, Any] | None:
    """The amounts of the rows that are complete, as the service would compute them; None of none.

    The lines before and after those of the form count. ``left_out`` counts the rows that are not
    complete.
    """
    typed = [values for line in lines if (values := _priced(line)) is not None]
    before, after = (
        [
            {attribute: row[name] for name, attribute in _ATTRIBUTES.items() if name in row}
            for row in rows
        ]
        for rows in (part.before, part.after)
    )
    whole = [*before, *typed, *after]
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
        "left_out": len(lines) - len(typed),
    }  # fmt: skip


def _priced(line: Line) -> dict[str, Any] | None:
    """What a row says of its amount, in the words of the service; None where it is not complete."""
    values: dict[str, Any] = {}
    for each in FIELDS:
        text = line.values.get(each.name, "")
        if not text or each.choices:
            if each.name == "unitPrice":
                return None
            continue
        try:
            value = _value(each, text)
        except NoNumberError:
            return None
        values[_ATTRIBUTES[each.name]] = value
    return values


def moved(location: str, by: int) -> str:
    """A place in the lines of the invoice from one in those of a form that begins ``by`` later."""
    part = _PLACE.match(location)
    return location if part is None else f"{LINES}[{int(part[1]) + by}]{location.partition(']')[2]}"


def line_problems(problems: Mapping[str, str]) -> dict[int, dict[str, str]]:
    """Row -> field -> what is wrong with it, from problems by their place in the form.

    What is wrong with a field that the form does not have is said at the description.
    """
    on_page = {each.name for each in FIELDS}
    by_row: dict[int, dict[str, str]] = {}
    for location, text in problems.items():
        if part := _PLACE.fullmatch(location):
            is_shown = part[2] in on_page
            field = part[2] if is_shown else "description"
            message = text if is_shown else f"{part[2] or ''} {text}".strip()
            problems_of_line = by_row.setdefault(int(part[1]), {})
            problems_of_line[field] = (
                f"{problems_of_line[field]}; {message}" if field in problems_of_line else message
            )
    return by_row


def is_of_line(location: str, rows: int) -> bool:
    """Whether a problem is told beside one of the form's rows."""
    part = _PLACE.fullmatch(location)
    return part is not None and 0 <= int(part[1]) < rows


def _decimals(value: Decimal) -> int:
    return -int(value.as_tuple().exponent)


def _text(name: str, value: Any) -> str:
    """A value as its field shows it; a price has the digits that amounts usually have."""
    if value is None:
        return ""
    if name == UNIT:
        return code_name(UNIT, value)
    if name == "unitPrice":
        return number_text(max(value.normalize(), value.quantize(_CENTS), key=_decimals))
    return number_text(value.normalize()) if isinstance(value, Decimal) else str(value)

"""Line items: what a body may say of them, what follows, the rows they become, the tasks they bill.

A billed task knows its invoice, and no other invoice bills it again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from decimal import Decimal
from difflib import SequenceMatcher
from typing import Any

from sqlalchemy import bindparam, delete, select, update

from app.db import records
from app.errors import refuse_any
from app.invoices.einvoice import codes
from app.invoices.totals import Line, Totals, compute_totals
from app.models.invoice import TAX_CATEGORIES, Invoice, LineItem
from app.models.project import Task
from app.projects.service import TASKS
from app.settings import Organisation
from app.writing.change import Change
from app.writing.fields import MONEY_LIMIT
from app.writing.rules import ChildRules

LINE_ITEMS = "line_items"
LINE_ITEM = ChildRules(
    model=LineItem,
    parent="invoice_id",
    writable=(
        "description", "quantity", "unit_price", "unit_code", "discount_percent", "tax_rate",
        "tax_category", "tax_exemption_reason", "product_code", "period_start", "period_end",
        "task_id", "product_id", "position",
    ),
    # By the service: from the product of the line, the settings and the lines before.
    filled=frozenset(("description", "unit_price", "tax_rate", "position")),
)  # fmt: skip

# What a line has to have, from its product where that is left out.
FROM_PRODUCT = ("description", "unit_price")
UNKNOWN_UNIT = "must be a code of UN/ECE Recommendation 20 or 21 such as C62, HUR or XBX"
# EN 16931: BR-E-10, BR-AE-10, BR-IC-10, BR-G-10, BR-O-10 ask for the reason.
NEEDS_REASON = ("E", "AE", "K", "G", "O")
_STORED = select(LineItem.__table__).where(LineItem.invoice_id == bindparam("invoice_id"))
_BY_KEY = _STORED.order_by(LineItem.id)
_CHANGED = update(LineItem).where(LineItem.id == bindparam("key"))
_GONE = delete(LineItem).where(LineItem.id.in_(bindparam("gone", expanding=True)))


def complete(lines: Iterable[Mapping[str, Any]], settings: Organisation) -> list[dict[str, Any]]:
    """Lines with what they leave out: defaults, tax rate, position.

    A rate of 0 without a category means zero-rated, because S is for rates above 0 (BR-S-5), also
    where 0 is what the organisation charges. A line without a position comes behind those before
    it.
    """
    whole: list[dict[str, Any]] = []
    last = 0
    for number, values in enumerate(lines, start=1):
        line = {name: LINE_ITEM.defaults[name] for name in LINE_ITEM.writable} | dict(values)
        if "tax_rate" not in values:
            standard = settings.defaults.tax_rate
            line["tax_rate"] = standard if line["tax_category"] == "S" else Decimal(0)
        if "tax_category" not in values and line["tax_rate"] == 0:
            line["tax_category"] = "Z"
        if line["position"] is None:
            line["position"] = max(number, last + 1)
        last = max(last, line["position"])
        whole.append(line)
    return whole


def check_lines(
    change: Change[Invoice], lines: Sequence[Mapping[str, Any]], *, any_unit: bool = False
) -> None:
    """Rules inside a line; problems are named ``lineItems[2].quantity``.

    Args:
        any_unit: also units that are no code: of documents that were issued elsewhere.
    """
    refused = {problem.field for problem in change.problems}
    name = change.rules.wire(LINE_ITEMS)
    for index, line in enumerate(lines):
        if f"{name}[{index}]" in refused:  # it is no line
            continue
        for attributes, message in _problems(line):
            names = [line_field(change, index, attribute) for attribute in attributes]
            if refused.isdisjoint(names):
                change.refuse_field(names[0], message)
    if not any_unit:
        _check_units(change, lines)


def _check_units(change: Change[Invoice], lines: Sequence[Mapping[str, Any]]) -> None:
    """Units have a code of the list of e-invoices; what the document had before may stay."""
    default = LINE_ITEM.defaults["unit_code"]
    units = {line["unit_code"] for line in lines} - {default}
    if not units or not (unknown := units - codes.unit_codes()):
        return
    sources = (change.key, change.get("credited_invoice_id"))  # a credit takes over its lines
    unit_codes = {line["unit_code"] for key in sources if key for line in stored_lines(key)}
    for index, line in enumerate(lines):
        if line["unit_code"] in unknown - unit_codes:
            change.refuse_field(line_field(change, index, "unit_code"), UNKNOWN_UNIT)


def line_field(change: Change[Invoice], index: int, attribute: str) -> str:
    """The name of an attribute of a line on the wire."""
    return f"{change.rules.wire(LINE_ITEMS)}[{index}].{LINE_ITEM.wire(attribute)}"


def _problems(line: Mapping[str, Any]) -> Iterable[tuple[tuple[str, ...], str]]:
    """The attributes that a rule is about, the one to be mended first, and what is wrong."""
    for name in FROM_PRODUCT:
        if line[name] is None:
            yield (name,), "is required"
    if line["quantity"] <= 0:
        yield ("quantity",), "must be more than 0"
    if line["position"] < 0:
        yield ("position",), "must be 0 or more"
    yield from tax_problems(line)
    start, end = line["period_start"], line["period_end"]
    if start is not None and end is not None and end < start:
        yield ("period_end", "period_start"), "must not be before periodStart"
    price = line["unit_price"]
    if price is not None and line["quantity"] * price >= MONEY_LIMIT:
        yield ("unit_price", "quantity"), "makes the amount of the line too large"


def tax_problems(taxed: Mapping[str, Any]) -> Iterable[tuple[tuple[str, ...], str]]:
    """What is wrong with the rate, the category and the reason of a line or a product.

    A product without a rate has that of the category.
    """
    category, rate = taxed["tax_category"], taxed["tax_rate"]
    if category == "S" and rate == 0:
        others = ", ".join(name for name in TAX_CATEGORIES if name != "S")
        message = f"must be more than 0 in category S; 0 has another taxCategory: {others}"
        yield ("tax_rate", "tax_category"), message
    elif category != "S" and rate:
        yield ("tax_rate", "tax_category"), f"must be 0 in category {category}"
    if category in NEEDS_REASON and taxed["tax_exemption_reason"] is None:
        yield ("tax_exemption_reason", "tax_category"), f"is required in category {category}"


def totals_of(lines: Sequence[Mapping[str, Any]], invoice: Change[Invoice]) -> Totals:
    """The amounts of an invoice with these lines."""
    return line_totals(
        lines,
        currency=invoice.get("currency"),
        discount_percent=invoice.get("discount_percent"),
        prices_include_tax=invoice.get("prices_include_tax"),
    )


def line_totals(
    lines: Sequence[Mapping[str, Any]], *, currency: str, discount_percent: Decimal,
    prices_include_tax: bool,
) -> Totals:  # fmt: skip
    """The amounts of complete lines."""
    return compute_totals(
        [Line(**{each.name: line[each.name] for each in fields(Line)}) for line in lines],
        currency=currency,
        discount_percent=discount_percent,
        prices_include_tax=prices_include_tax,
    )


def stored_lines(invoice_id: int) -> list[dict[str, Any]]:
    """The lines of an invoice as they are, in their order."""
    rows = records.connection().execute(
        _STORED.order_by(LineItem.position, LineItem.id), {"invoice_id": invoice_id}
    )
    return [{name: row[name] for name in LINE_ITEM.writable} for row in rows.mappings()]


def write_lines(
    change: Change[Invoice], lines: Sequence[Mapping[str, Any]], totals: Totals
) -> None:
    """Replace the lines of an invoice; a line that is still there keeps its key."""
    stored = [] if change.is_new else _stored_by_key(change.key)
    keys = keys_kept(stored, lines)
    rows = [{**line, **vars(amounts)} for line, amounts in zip(lines, totals.lines, strict=True)]
    changed = [{**row, "key": key} for key, row in zip(keys, rows, strict=True) if key is not None]
    if changed:
        records.connection().execute(_CHANGED, changed)
    added = [row for key, row in zip(keys, rows, strict=True) if key is None]
    of_invoice = {"invoice_id": change.key, "created_at": change.now}
    records.insert_all(LineItem, [row | of_invoice for row in added])
    # Last: SQLite would give new lines the numbers of those that went.
    gone = {row["id"] for row in stored}.difference(keys)
    if gone:
        records.connection().execute(_GONE, {"gone": sorted(gone)})


def keys_kept(
    stored: Sequence[Mapping[str, Any]], lines: Sequence[Mapping[str, Any]]
) -> list[int | None]:
    """The key of each line, None for a new one; keys ascend, and new lines are the last.

    Lines have no key of their own in a body: those that are equal are the same, and so is one
    that was changed at its place. What comes behind a line put between others becomes new, for
    the keys are the order that a reader of the set sees.
    """
    in_order = sorted(stored, key=lambda row: (row["position"], row["id"]))
    before, after = _contents(stored), _contents(lines)
    if _contents(in_order) == after:  # nothing but the document around them changed
        return [row["id"] for row in in_order]
    keys: list[int | None] = [None] * len(lines)
    for kind, start, end, at, until in SequenceMatcher(None, before, after, False).get_opcodes():
        if kind == "equal" or (kind == "replace" and end - start == until - at):
            keys[at:until] = [row["id"] for row in stored[start:end]]
    first_new = keys.index(None) if None in keys else len(keys)
    return [*keys[:first_new], *[None] * (len(keys) - first_new)]


def _contents(lines: Sequence[Mapping[str, Any]]) -> list[tuple[Any, ...]]:
    return [tuple(line[name] for name in LINE_ITEM.writable) for line in lines]


def _stored_by_key(invoice_id: int) -> list[dict[str, Any]]:
    rows = records.connection().execute(_BY_KEY, {"invoice_id": invoice_id})
    return [dict(row) for row in rows.mappings()]


_BILLED = select(Task.id).where(Task.invoice_id == bindparam("invoice_id")).order_by(Task.id)


def check_tasks(change: Change[Invoice], lines: Sequence[Mapping[str, Any]]) -> None:
    """Refuse lines for tasks that another invoice bills."""
    if change.get("type") == "CreditNote":
        return
    for index, line in enumerate(lines):
        task = records.read(Task, line.get("task_id"))
        if task is not None and task.invoice_id not in (None, change.key):
            problem = f"was billed by invoice {task.invoice_id}"
            change.refuse_field(line_field(change, index, "task_id"), problem)


def bill_tasks(change: Change[Invoice], lines: Sequence[Mapping[str, Any]]) -> None:
    """Make the tasks of these lines, and no others, those that the invoice bills.

    Raises: ValidationError, another invoice has billed one of them meanwhile.
    """
    if change.get("type") == "CreditNote":
        return
    billed = records.connection().execute(_BILLED, {"invoice_id": change.key})
    before = set(billed.scalars())
    after = {line["task_id"] for line in lines if line["task_id"] is not None}
    for task_id in sorted(before - after):
        TASKS.apply(task_id, {"invoice_id": None})
    for task_id in sorted(after - before):
        TASKS.stored(task_id)  # locked: whoever bills it at the same time has done so, or waits
    check_tasks(change, lines)
    refuse_any(change.problems)
    for task_id in sorted(after - before):
        TASKS.apply(task_id, {"invoice_id": change.key})

"""Making and changing a record: a form made from the model, sent the way the API is.

Only what was changed is sent, under the ETag of the page, so nobody's work is overwritten; what is
refused comes back with every field as it was typed, and the problem beside it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

from flask import Response, request

from app.console import engine, session, wording
from app.console.area import console, page, see_other
from app.console.both_versions import TAKEN, BothVersions, digests_of, joined, merged_form
from app.console.form_fields import body_of, fields_of, suggestions, texts_at_first, texts_of
from app.console.invoice_lines import (
    FIELDS,
    LINES,
    READ,
    DrawnLines,
    Line,
    Part,
    are_changed,
    around,
    drawn_of,
    is_of_line,
    line_problems,
    lines_body,
    moved,
    part_at,
    part_of,
    shown_lines,
    typed_lines,
    typed_totals,
    with_empty_rows,
    with_products,
)
from app.console.language import translated
from app.console.named_codes import UNIT
from app.console.numbers import amount_text
from app.console.references import KINDS, find
from app.console.sets import Page, page_of
from app.console.typed import MistypedError, key_in
from app.errors import ApiError, PreconditionFailedError
from app.http.security import current_caller
from app.odata.model import edm
from app.permissions import require
from app.settings import organisation
from app.writing.validation import too_many

# The step that draws other lines: ``lines:25`` those from the 26th on.
_PAGE = "lines:"


@console.get("/<path>/new")
def new_record(path: str) -> Response:
    """A form with defaults, and with what the address gives: ``?clientId=1``."""
    set_page = page_of(path)
    require(current_caller(), f"{set_page.entity_set.type.resource}:create")
    return _form(set_page, None, {}, texts_at_first(set_page, request.args))


@console.post("/<path>/new")
def create_record(path: str) -> Response:
    """Make a record."""
    set_page = page_of(path)
    if _is_only_shown():
        return _form(set_page, None, {}, request.form)
    try:
        body, problems = body_of(set_page, request.form, {}, creating=True)
        if _has_lines(set_page, {}):
            _add_lines(body, problems, {})
        created = engine.write("POST", set_page.set_name, body, problems)
    except ApiError as error:
        return _form(set_page, None, {}, request.form, error)
    return see_other(f"{session.ROOT}/{path}/{created['id']}", _saved(set_page, body, created))


@console.get("/<path>/<int:key>/edit")
def edit_record(path: str, key: int) -> Response:
    """The form of a record."""
    set_page = page_of(path)
    require(current_caller(), f"{set_page.entity_set.type.resource}:update")
    record = _read(set_page, key)
    return _form(set_page, key, record, texts_of(set_page, record))


@console.post("/<path>/<int:key>/edit")
def change_record(path: str, key: int) -> Response:
    """Change what is different in the form."""
    set_page = page_of(path)
    record = _read(set_page, key)
    version = request.form.get("version") or None
    if version and version != record["@odata.etag"]:
        stored = (
            {LINES: _lines_text(shown_lines(_part(record).rows))}
            if _has_lines(set_page, record)
            else {}
        )
        typed = {**request.form, LINES: _lines_text(typed_lines(request.form))}
        return _form(
            set_page, key, record, request.form, both=joined(set_page, record, typed, stored)
        )
    if _is_only_shown():
        return _form(set_page, key, record, request.form)
    try:
        taken = request.form.getlist(TAKEN)
        form = merged_form(request.form, taken, texts_of(set_page, record))
        body, problems = body_of(set_page, form, record, creating=False)
        if _has_lines(set_page, record) and "lines" in request.form and LINES not in taken:
            _add_lines(body, problems, record)
        if body or problems:
            record = (
                engine.write("PATCH", f"{set_page.set_name}({key})", body, problems, version) or {}
            )
    except ApiError as error:
        return _form(set_page, key, record, request.form, error)
    _, goes_on, line = request.form.get("step", "").partition("line:")
    message = "" if goes_on else translated("Nothing was changed.")
    message = _saved(set_page, body, record) if body else message
    more = f"/edit?{urlencode({'line': line})}#lines-title" if goes_on else ""
    return see_other(f"{session.ROOT}/{path}/{key}{more}", message)


def _is_only_shown() -> bool:
    """Whether the form comes to be shown again: after signing in, for its totals or other lines."""
    step = request.form.get("step", "")
    return "resume" in request.form or step == "totals" or step.startswith(_PAGE)


def _totals(
    lines: Sequence[Line], texts: Mapping[str, str], record: Mapping[str, Any]
) -> dict[str, Any] | None:
    """The amounts of the lines in the form, in the currency that it names, or would get."""
    if request.method == "GET" and record:
        return {**record, "left_out": 0}
    part, typed = _part(record), [line for line in lines if not line.is_empty]
    if too_many(len(part.before) + len(typed) + len(part.after)):
        return None
    return typed_totals(
        typed,
        part,
        currency=_currency_of(texts, record),
        discount=texts.get("discountPercent", ""),
        prices_include_tax=_include_tax(texts),
    )


def _filled(
    texts: Mapping[str, str], record: Mapping[str, Any]
) -> tuple[list[Line], list[tuple[str, str]]]:
    """The typed lines with the values of the products that were chosen, and what is wrong."""
    part, lines = _part(record), typed_lines(texts)
    if refusal := too_many(len(part.before) + len(lines) + len(part.after)):
        return lines, [(LINES, refusal)]
    return with_products(
        lines,
        currency=_currency_of(texts, record),
        prices_include_tax=_include_tax(texts),
    )


def _currency_of(texts: Mapping[str, str], record: Mapping[str, Any]) -> str:
    currency = texts.get("currency", "").strip().upper() or record.get("currency")
    return currency or _currency_of_client(texts.get("clientId", ""))


def _include_tax(texts: Mapping[str, str]) -> bool:
    return texts.get("pricesIncludeTax") == "true"


def _currency_of_client(typed: str) -> str:
    """The currency that an invoice gets which names none: that of its client."""
    try:
        key = find(KINDS["Client"], typed)
        currency = engine.read(f"Clients({key})", select="currency").body["currency"]
    except (MistypedError, ApiError):
        currency = None
    return str(currency or organisation().defaults.currency)


def _saved(set_page: Page, body: Mapping[str, Any], record: Mapping[str, Any]) -> str:
    """What is said of a saved record, with the stored amounts that are not 0."""
    properties = set_page.entity_set.type.properties
    names = [name for name in body if name in properties and properties[name].type == edm.DECIMAL]
    if LINES in body:
        names.append("total")
    amounts = []
    for name in names:
        if record.get(name) and Decimal(str(record[name])):
            currency = record.get(properties[name].currency_property or "")
            amount = amount_text(record[name], currency)
            amounts.append(f"{wording.inside(wording.label(name))} {amount}")
    text = ", ".join(amounts)
    return (
        translated("%(record)s saved: %(amounts)s.", record=set_page.singular_label, amounts=text)
        if text
        else wording.saved(set_page.singular_label)
    )


def _form(
    set_page: Page, key: int | None, record: Mapping[str, Any], texts: Mapping[str, str],
    error: ApiError | None = None, both: BothVersions | None = None,
) -> Response:  # fmt: skip
    """A form; with ``both``, of two versions of the record, which the caller joins."""
    problems = engine.problems_of(error) if error else {}
    stored = both.stored if both else {}
    main, more = fields_of(
        set_page,
        both.texts if both else texts,
        problems,
        record=record,
        creating=key is None,
        stored=stored,
    )
    part = _part(record)
    rows = shown_lines(part.rows) if _has_lines(set_page, record) else None
    lines, in_lines = _lines(rows, record, both)
    at = len(part.before)
    problems = {moved(name, -at): text for name, text in problems.items()}
    wrong = line_problems({**in_lines, **problems})
    shown_names = {field.name for field in (*main, *more)}
    return page(
        "form.html",
        PreconditionFailedError.status if both else 200 if error is None else error.status,
        set_page=set_page,
        key=key,
        both=both,
        is_fresh=request.method == "GET",
        stored_lines=part.rows if LINES in stored else None,
        title=set_page.name_of({"id": key, **record}),
        main=main,
        more=more,
        drawn=None if lines is None else _drawn_lines(lines, wrong),
        totals=_totals(lines, texts, record) if lines else None,
        part=part,
        line_fields=FIELDS,
        labels={each.name: translated(each.label) for each in FIELDS} if lines else {},
        line_problems=wrong,
        tax_rate=organisation().defaults.tax_rate,
        suggestions=suggestions(set_page, (*main, *more), [UNIT] if lines else ()),
        version=(None if both else request.form.get("version")) or record.get("@odata.etag", ""),
        seen=(None if both else request.form.get("seen")) or _form_digests(set_page, record, rows),
        problem=error,
        problems=problems,
        at=[name for name in problems if name in shown_names or is_of_line(name, len(lines or ()))],
    )


def _form_digests(set_page: Page, record: Mapping[str, Any], rows: Sequence[Line] | None) -> str:
    """What the form is made of, to be compared when it comes back; nothing for a new record."""
    if not record:
        return ""
    texts = texts_of(set_page, record)
    if rows is not None:
        texts[LINES] = _lines_text(rows)
    return digests_of(texts)


def _lines(
    rows: list[Line] | None, record: Mapping[str, Any], both: BothVersions | None
) -> tuple[list[Line] | None, Mapping[str, str]]:
    """The rows of the form, None where there are none to change; and what is wrong with them.

    Args:
        rows: those that are known.
    """
    if rows is None or "lines" not in request.form:
        return rows, {}
    typed, problems = _filled(request.form, record)
    if both is None:
        return with_empty_rows(typed), dict(problems)
    if both.texts[LINES] != _lines_text(typed_lines(request.form)):
        return rows, {}
    keys = {line.id for line in rows}
    lines = [line if line.id in keys else replace(line, id="") for line in typed]
    return with_empty_rows(lines), {}


def _drawn_lines(lines: Sequence[Line], wrong: Iterable[int]) -> DrawnLines:
    """The lines that the page draws: those that it is asked for, that are wrong or were filled."""
    line_key = request.form.get("step", "").partition(_PAGE)[2]
    before = {line.number: line for line in typed_lines(request.form)}
    filled = [
        index for index, line in enumerate(lines)
        if line.number in before and before[line.number].values != line.values
    ]  # fmt: skip
    return drawn_of(lines, wrong, filled, key_in(line_key) or 0)


def _lines_text(lines: Sequence[Line]) -> str:
    """Lines as one text, to be compared: without the empty ones."""
    return json.dumps(
        [[line.id, sorted(line.values.items())] for line in lines if not line.is_empty]
    )


def _add_lines(
    body: dict[str, Any], problems: list[tuple[str, str]], record: Mapping[str, Any]
) -> None:
    part = _part(record)
    if not are_changed(typed_lines(request.form), part.rows):
        return
    lines, wrong = _filled(request.form, record)
    if LINES in dict(wrong):
        problems += wrong
        return
    typed, unread = lines_body(lines)
    body[LINES] = around(part, typed)
    refused = {location for location, _ in wrong}
    wrong += [each for each in unread if each[0] not in refused]
    problems += [(moved(location, len(part.before)), text) for location, text in wrong]


def _part(record: Mapping[str, Any]) -> Part:
    """The lines that the form has: as it says itself, or as the address asks for them."""
    if "lines" in request.form:
        return part_of(_rows(record), request.form.get("shown", ""))
    return part_at(_rows(record), request.args.get("line", ""))


def _rows(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = record.get(LINES, [])
    return rows


def _has_lines(set_page: Page, record: Mapping[str, Any]) -> bool:
    return set_page.set_name == "Invoices" and record.get("status", "Draft") == "Draft"


def _read(set_page: Page, key: int) -> dict[str, Any]:
    expand = f"{LINES}($select={READ})" if set_page.set_name == "Invoices" else None
    record: dict[str, Any] = engine.read(f"{set_page.set_name}({key})", expand=expand).body
    return record

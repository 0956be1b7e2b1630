"""Making and changing a record: a form made from the model, sent the way the API is.

Only what was changed is sent, under the ETag of the page, so nobody's work is overwritten; what is
refused comes back with every field as it was typed, and the problem beside it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, NamedTuple
from urllib.parse import urlencode

from flask import Response, request

from app.console import engine, session, wording
from app.console.area import console, page, see_other
from app.console.form_fields import body_of, fields_of, suggestions, texts_at_first, texts_of
from app.console.invoice_lines import (
    FIELDS,
    LINES,
    READ,
    LinesForm,
    is_of_line,
    line_problems,
    moved,
    text_of_lines,
)
from app.console.language import translated
from app.console.named_codes import UNIT
from app.console.named_records import names_by_key
from app.console.numbers import amount_text
from app.console.sets import Page, page_of
from app.console.typed import key_in
from app.errors import ApiError, PreconditionFailedError
from app.http.security import current_caller
from app.odata.model import edm
from app.permissions import require
from app.settings import organisation

# The checkboxes with which the stored value is taken carry the name of the field.
TAKEN = "take"


class BothVersions(NamedTuple):
    """The texts of a form in which both versions are joined.

    ``stored`` are those of the record where both people changed the same field. ``who`` was the
    other one, ``at`` when.
    """

    texts: Mapping[str, str]
    stored: Mapping[str, str]
    who: str
    at: str


def digests_of(texts: Mapping[str, str]) -> str:
    """What the fields of a form are made of."""
    return json.dumps({name: _digest(text) for name, text in texts.items() if text})


def joined(
    set_page: Page, record: Mapping[str, Any], form: Mapping[str, str], stored: Mapping[str, str]
) -> BothVersions:
    """A form that was typed over an older version, and the record as it is now.

    Args:
        stored: what else the form would be made of now, besides the fields of the record.
    """
    now = {**texts_of(set_page, record), **stored}
    seen = _parsed(form.get("seen"))
    texts, both = dict(now), {}
    for name, text in now.items():
        typed = _typed(form, name, text)
        if typed is None or typed == text:
            continue
        before = None if seen is None else seen.get(name, _digest(""))
        if before == _digest(typed):
            continue  # only the other one has changed it
        texts[name] = typed
        if before != _digest(text):
            both[name] = text
    editor = record.get("updatedById")
    person = names_by_key("User", [editor]).get(editor) if editor else None
    return BothVersions(
        texts, both, person.name if person else translated("somebody else"), record["updatedAt"]
    )


def merged_form(
    form: Mapping[str, str], taken: list[str], now: Mapping[str, str]
) -> dict[str, str]:
    """The form with the stored values of the fields for which they were taken."""
    return {**form, **{name: now[name] for name in taken if name in now}}


def _typed(form: Mapping[str, str], name: str, text: str) -> str | None:
    """What was typed into a field; a box that is not checked is not sent."""
    if text in ("true", "false"):
        return "true" if form.get(name) == "true" else "false"
    typed = form.get(name)
    return None if typed is None else typed.replace("\r\n", "\n")


def _digest(text: str) -> str:
    return hashlib.blake2s(text.replace("\r\n", "\n").encode(), digest_size=4).hexdigest()


def _parsed(text: str | None) -> Mapping[str, str] | None:
    try:
        texts = json.loads(text or "")
    except ValueError:
        return None
    return texts if isinstance(texts, dict) else None


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
    set_page = page_of(path)
    if _is_only_shown():
        return _form(set_page, None, {}, request.form)
    try:
        body, problems = body_of(set_page, request.form, {}, creating=True)
        if lines := _lines_of(set_page, {}):
            lines.add_to(body, problems)
        created = engine.write("POST", set_page.set_name, body, problems)
    except ApiError as error:
        return _form(set_page, None, {}, request.form, error)
    return see_other(f"{session.ROOT}/{path}/{created['id']}", _saved(set_page, body, created))


@console.get("/<path>/<int:key>/edit")
def edit_record(path: str, key: int) -> Response:
    set_page = page_of(path)
    require(current_caller(), f"{set_page.entity_set.type.resource}:update")
    record = _read(set_page, key)
    return _form(set_page, key, record, texts_of(set_page, record))


@console.post("/<path>/<int:key>/edit")
def change_record(path: str, key: int) -> Response:
    set_page = page_of(path)
    record = _read(set_page, key)
    lines = _lines_of(set_page, record)
    version = request.form.get("version") or None
    if version and version != record["@odata.etag"]:
        stored, typed = {}, dict(request.form)
        if lines:
            stored, typed[LINES] = {LINES: text_of_lines(lines.known)}, text_of_lines(lines.typed)
        both = joined(set_page, record, typed, stored)
        return _form(set_page, key, record, request.form, both=both)
    if _is_only_shown():
        return _form(set_page, key, record, request.form)
    try:
        taken = request.form.getlist(TAKEN)
        form = merged_form(request.form, taken, texts_of(set_page, record))
        body, problems = body_of(set_page, form, record, creating=False)
        if lines and lines.is_sent and LINES not in taken:
            lines.add_to(body, problems)
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
    of_lines = _lines_of(set_page, record)
    lines, in_lines = of_lines.rows(both.texts[LINES] if both else None) if of_lines else ([], {})
    at = len(of_lines.part.before) if of_lines else 0
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
        stored_lines=of_lines.part.rows if of_lines and LINES in stored else None,
        title=set_page.name_of({"id": key, **record}),
        main=main,
        more=more,
        drawn=of_lines.page_lines(lines, wrong, _first_line()) if of_lines else None,
        totals=of_lines.totals(lines, texts) if of_lines else None,
        part=of_lines.part if of_lines else None,
        line_fields=FIELDS,
        labels={each.name: translated(each.label) for each in FIELDS},
        line_problems=wrong,
        tax_rate=organisation().defaults.tax_rate,
        suggestions=suggestions(set_page, (*main, *more), [UNIT] if of_lines else ()),
        version=(None if both else request.form.get("version")) or record.get("@odata.etag", ""),
        seen=(None if both else request.form.get("seen"))
        or _form_digests(set_page, record, of_lines),
        problem=error,
        problems=problems,
        at=[name for name in problems if name in shown_names or is_of_line(name, len(lines))],
    )


def _form_digests(set_page: Page, record: Mapping[str, Any], lines: LinesForm | None) -> str:
    """What the form is made of, to be compared when it comes back; nothing for a new record."""
    if not record:
        return ""
    texts = texts_of(set_page, record)
    if lines is not None:
        texts[LINES] = text_of_lines(lines.known)
    return digests_of(texts)


def _first_line() -> int:
    """The place of the line with which the page is to begin."""
    return key_in(request.form.get("step", "").partition(_PAGE)[2]) or 0


def _lines_of(set_page: Page, record: Mapping[str, Any]) -> LinesForm | None:
    """The lines in the form, of a draft of an invoice."""
    if set_page.set_name != "Invoices" or record.get("status", "Draft") != "Draft":
        return None
    return LinesForm(record, request.form, request.args.get("line", ""))


def _read(set_page: Page, key: int) -> dict[str, Any]:
    expand = f"{LINES}($select={READ})" if set_page.set_name == "Invoices" else None
    record: dict[str, Any] = engine.read(f"{set_page.set_name}({key})", expand=expand).body
    return record

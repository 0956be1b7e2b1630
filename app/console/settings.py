"""Settings of the organisation, a page for each group, for words of mail and for canned answers.

What is wrong is said at its field.

A form names the state that it was made of: where somebody else saved the group meanwhile, nothing
is overwritten, and the form comes back as it was typed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any
from zoneinfo import available_timezones

from flask import Response, request
from werkzeug.datastructures import MultiDict

from app.console import engine, session, wording
from app.console.area import console, page, refused_on, see_other
from app.console.language import marked, translated
from app.console.named_codes import code_name, code_names, list_of, typed_code
from app.console.numbers import number_text, typed_number
from app.console.property_kinds import INPUTS, Field, kind_of_value
from app.console.typed import MistypedError, noted_at, typed_text
from app.errors import ApiError, NotFoundError, refuse_any
from app.extensions import db
from app.http.schema_fields import Field as SchemaField
from app.http.security import requires
from app.invoices.letters import Written, write_letter
from app.invoices.logo import MAX_BYTES, delete_logo, read_logo, save_logo
from app.invoices.samples import sample
from app.invoices.texts import LANGUAGES, texts_for
from app.odata.model import edm
from app.operations.wire_types import edm_type
from app.settings import Organisation, change_settings, organisation, save_settings
from app.settings.changes import setting_problems
from app.settings.groups import GROUPS, RATES, settings_of
from app.settings.store import logo_body, settings_body, version_of
from app.settings.templates import ANSWER_PLACES, KINDS, PLACES

TITLES = wording.CALLED["settings"]
TABS = tuple(TITLES.items())
ADDRESS = f"{session.ROOT}/settings"
# Settings of a group that have pages of their own.
_ELSEWHERE = ("templates",)
_BLANK_RATES = 3
# What is wrong with a row of the rates, by its place.
_RATE = "rate-{}"
_HALF_A_ROW = marked("A row needs a currency and its rate; empty both to take it away.")


@console.get("/settings")
@requires("settings:read")
def show_settings() -> Response:
    return see_other(f"{ADDRESS}/seller")


@console.get("/settings/<group>")
@requires("settings:read")
def show_group(group: str, problem: ApiError | None = None) -> Response:
    settings = organisation()
    if group not in TITLES:
        raise NotFoundError(translated("There are no such settings."))
    typed = request.form if request.method == "POST" else None
    fields = [] if group == RATES else _fields(group, settings_body(group, settings), typed)
    rates = _rate_rows(settings.exchange_rates, typed) if group == RATES else None
    return page(
        "settings.html",
        tabs=TABS,
        group=group,
        title=translated(TITLES[group]),
        fields=fields,
        rates=rates,
        suggestions={name: code_names(name) for each in fields if (name := each.suggested)},
        at=[field.name for field in fields] + [_RATE.format(at) for at in range(len(rates or ()))],
        currency=settings.defaults.currency,
        version=request.form.get("version") or version_of(group, settings),
        problem=problem,
    )


@console.post("/settings/<group>")
@requires("settings:update")
@refused_on(show_group)
def save_group(group: str) -> Response:
    version = request.form.get("version", "")
    values, problems = _rates(request.form) if group == RATES else _changes(group)
    refuse_any([*problems, *setting_problems(group, values)])
    save = save_settings if group == RATES else change_settings
    save(group, values, version=version)
    return see_other(f"{ADDRESS}/{group}", translated("Saved."))


@console.get("/settings/logo")
@requires("settings:read")
def show_logo_page(problem: ApiError | None = None) -> Response:
    return page(
        "settings_logo.html",
        tabs=TABS,
        group="logo",
        logo=logo_body(organisation()),
        problem=problem,
    )


@console.post("/settings/logo")
@requires("settings:update")
@refused_on(show_logo_page)
def change_logo() -> Response:
    """Take a picture, or take the one there is away."""
    if request.form.get("step") == "remove":
        delete_logo()
    else:
        upload = request.files.get("file")
        save_logo(b"" if upload is None else upload.stream.read(MAX_BYTES + 1))
    return see_other(f"{ADDRESS}/logo", translated("Saved."))


@console.get("/settings/logo/picture")
@requires("settings:read")
def show_logo_picture() -> Response:
    answer = Response(read_logo(), mimetype="image/png")
    answer.set_etag(str(organisation().logo.sha256))
    db.session.rollback()  # nothing was written
    answer.make_conditional(request)
    return answer


def _fields(group: str, values: Mapping[str, Any], typed: Mapping[str, str] | None) -> list[Field]:
    fields = []
    for name, setting in settings_of(group).items():
        if name in _ELSEWHERE:
            continue
        value, label = values[name], wording.label(name)
        about = setting.read.metadata["description"]
        hint = translated(about).rstrip(".")
        if isinstance(value, Mapping):  # such as hours by priority
            fields += [
                Field(f"{name}.{part}", f"{label}: {wording.words(part)}", "number",
                      _typed(f"{name}.{part}", number, typed))
                for part, number in value.items()
            ]  # fmt: skip
            continue
        fields.append(
            Field(
                name,
                label,
                _kind(name, setting.read),
                _typed(name, value, typed),
                options=sorted(available_timezones()) if name == "timeZone" else (),
                hint="" if hint == label or list_of(name) else hint,
                suggested=list_of(name),
            )
        )
    return fields


def _kind(name: str, read: SchemaField) -> str:
    if name == "timeZone":
        return "choice"
    return INPUTS.get(kind_of_value(edm_type(name, read)), "text")


def _typed(name: str, value: Any, typed: Mapping[str, str] | None) -> Any:
    if typed is not None:
        return typed.get(name, "")
    return value if isinstance(value, bool) else _text(name, value)


def _text(name: str, value: Any) -> str:
    if value is None:
        return ""
    if list_of(name):
        return code_name(name, value)
    if isinstance(value, list | tuple):
        return ", ".join(str(item) for item in value)
    if name == "iban":
        return wording.in_fours(value)
    return number_text(value) if isinstance(value, Decimal) else str(value)


def _changes(group: str) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """The settings of a group whose fields differ from what is set, and what is no number.

    Returns: the values, None for a blank one; the problems, by their fields.
    Raises: NotFoundError, there is no such group.
    """
    if group not in GROUPS:
        raise NotFoundError(translated("There are no such settings."))
    now = settings_body(group, organisation())
    changes: dict[str, Any] = {}
    problems: list[tuple[str, str]] = []
    for name, setting in settings_of(group).items():
        value, type_ = now[name], edm_type(name, setting.read)
        if name in _ELSEWHERE:
            continue
        if isinstance(value, Mapping):
            parts = {part: _whole(request.form.get(f"{name}.{part}", "")) for part in value}
            if parts != dict(value):
                changes[name] = parts
            continue
        text = request.form.get(name, "").strip()
        if type_ == edm.BOOLEAN:
            if (text == "true") != value:
                changes[name] = text == "true"
        elif text != _text(name, value):
            with noted_at(name, problems):
                changes[name] = _typed_value(name, text, type_) if text else None
    return changes, problems


def _typed_value(name: str, text: str, type_: edm.EdmType) -> Any:
    """A field as a JSON value; what is no whole number stays text, and is refused by its check.

    Raises: NoNumberError.
    """
    if list_of(name):
        return typed_code(name, text)
    if type_ == edm.INT32:
        return _whole(text)
    if isinstance(type_, edm.CollectionType):
        return [_whole(part.strip()) for part in text.split(",") if part.strip()]
    return typed_number(text) if type_ == edm.DECIMAL else text


def _whole(text: str) -> Any:
    return int(text) if re.fullmatch(r"-?\d{1,9}", text.strip()) else text


def _rates(form: MultiDict[str, str]) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """Currency -> rate, and what is wrong with a row, by its place; an empty row is none."""
    rates: dict[str, Any] = {}
    problems: list[tuple[str, str]] = []
    for at, (code, rate) in enumerate(_typed_rates(form)):
        if not code and not rate:
            continue
        with noted_at(_RATE.format(at), problems):
            if not code or not rate:
                raise MistypedError(translated(_HALF_A_ROW))
            if code in rates:
                raise MistypedError(translated("Another row has this currency already."))
            number = typed_number(rate)
            if refused := setting_problems(RATES, {code: number}):
                raise MistypedError(refused[0].message)
            rates[code] = number
    return rates, problems


def _typed_rates(form: MultiDict[str, str]) -> list[tuple[str, str]]:
    rows = zip(form.getlist("code"), form.getlist("rate"), strict=False)
    return [(code.strip().upper(), rate.strip()) for code, rate in rows]


def _rate_rows(
    rates: Mapping[str, Decimal], typed: MultiDict[str, str] | None
) -> list[tuple[str, str]]:
    if typed is not None:
        return _typed_rates(typed)
    known = [(code, number_text(rate)) for code, rate in sorted(rates.items())]
    return [*known, *[("", "")] * _BLANK_RATES]


# --- words of mail, by kind and language, tried on an example at once

_PARTS = ("subject", "message")


@console.get("/settings/templates")
@requires("settings:read")
def show_templates(problem: ApiError | None = None) -> Response:
    """The template of a kind and a language, and the letter that it makes."""
    settings = organisation()
    db.session.rollback()  # nothing is written from here on
    kind, language = _kind_and_language()
    own = settings.mail.templates.get(kind, {}).get(language, {})
    usual = {name: texts_for(language)(f"mail.{kind}_{name}") for name in _PARTS}
    is_typed = request.method == "POST"
    words = {name: typed_text(name) if is_typed else own.get(name, "") for name in _PARTS}
    prefix = f"templates.{kind}.{language}."
    return page(
        "settings_templates.html",
        tabs=TABS,
        group="templates",
        kinds=KINDS,
        kind=kind,
        languages=LANGUAGES,
        language=language,
        words=words,
        usual=usual,
        places=PLACES,
        letter=_letter(settings, kind, language, {**usual, **_filled(own), **_filled(words)}),
        version=request.form.get("version") or version_of("mail", settings),
        problem=problem,
        problems={
            name.removeprefix(prefix): text
            for name, text in engine.problems_by_field(problem).items()
        },
        at=_PARTS,
    )


@console.post("/settings/templates")
@requires("settings:update")
@refused_on(show_templates)
def save_template() -> Response:
    """Save a template, or only look at what it would make."""
    if request.form.get("step") == "preview":
        return show_templates()
    kind, language = _kind_and_language()
    settings = organisation()
    templates = {each: dict(known) for each, known in settings.mail.templates.items()}
    words = {name: text for name in _PARTS if (text := typed_text(name))}
    known = {**templates.get(kind, {}), language: words}
    templates[kind] = {tag: parts for tag, parts in known.items() if parts}
    change_settings("mail", {"templates": templates}, version=request.form.get("version", ""))
    address = f"{ADDRESS}/templates?kind={kind}&language={language}"
    return see_other(address, translated("Saved."))


def _letter(settings: Organisation, kind: str, language: str, words: dict[str, str]) -> Written:
    """What a client would read, about an invoice that is made up."""
    made_up = sample("credit-note" if kind == "creditNote" else "german")
    seller = replace(
        made_up.seller, name=settings.seller.name, legal_name=settings.seller.legal_name
    )
    document = replace(made_up, seller=seller, language=language)
    return write_letter(
        document, settings, kind=kind, subject=words["subject"], message=words["message"]
    )


def _kind_and_language() -> tuple[str, str]:
    kind, language = request.values.get("kind", ""), request.values.get("language", "")
    return (
        kind if kind in KINDS else KINDS[0],
        language if language in LANGUAGES else "en",
    )


def _filled(words: Any) -> dict[str, str]:
    return {name: text for name, text in words.items() if text}


# --- canned answers

_BLANK_ROWS = 2
_HELP_DESK = "helpDesk"


@console.get("/settings/answers")
@requires("settings:read")
def show_canned_answers(problem: ApiError | None = None) -> Response:
    settings = organisation()
    answers = list(settings.help_desk.answers.items()) if problem is None else _typed_answers()
    problems = engine.problems_by_field(problem)
    return page(
        "settings_answers.html",
        tabs=TABS,
        group="answers",
        canned=[*answers, *[("", "")] * _BLANK_ROWS],
        places=ANSWER_PLACES,
        version=request.form.get("version") or version_of(_HELP_DESK, settings),
        problem=problem,
        problems={name.removeprefix("answers."): text for name, text in problems.items()},
        at=[name for name, _ in answers if name],
    )


@console.post("/settings/answers")
@requires("settings:update")
@refused_on(show_canned_answers)
def save_canned_answers() -> Response:
    """Save the answers that have a name and a text; an empty row is taken away."""
    answers = {name: text for name, text in _typed_answers() if name or text}
    change_settings(_HELP_DESK, {"answers": answers}, version=request.form.get("version", ""))
    return see_other(f"{ADDRESS}/answers", translated("Saved."))


def _typed_answers() -> list[tuple[str, str]]:
    names, texts = request.form.getlist("name"), request.form.getlist("text")
    return [
        (name.strip(), text.replace("\r\n", "\n").strip())
        for name, text in zip(names, texts, strict=False)
    ]

"""Words of mail in the settings, by kind and language, tried on an example at once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from flask import Response, request

from app.console import engine
from app.console.area import console, page, refused_on, see_other
from app.console.language import translated
from app.console.settings import ADDRESS, TABS
from app.console.typed import typed_text
from app.errors import ApiError
from app.extensions import db
from app.http.security import requires
from app.invoices.letters import Written, write_letter
from app.invoices.samples import sample
from app.invoices.texts import LANGUAGES, texts_for
from app.settings import Organisation, change_settings, organisation
from app.settings.store import version_of
from app.settings.templates import KINDS, PLACES

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

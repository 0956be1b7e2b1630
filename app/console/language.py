"""The language of a page, and its texts: msgids are the English ones (gettext, Babel)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from functools import cache
from gettext import GNUTranslations, NullTranslations
from io import BytesIO
from pathlib import Path

from babel.dates import format_date
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from flask import Flask, g, has_request_context, request
from sqlalchemy import select

from app.db import records
from app.http.security import find_caller
from app.models.user import User
from app.settings import organisation
from app.written.locales import UNSAID

# The language of the msgids.
SOURCE = "en"
LOCALES = Path(__file__).parent / "locales"
DOMAIN = "console"
_ENGLISH = NullTranslations()


def init_app(app: Flask) -> None:
    """Give the templates ``_``, ``ngettext``, ``{% trans %}``, and a filter for what they get."""
    app.jinja_env.filters.update(translated=translated, instant=instant_text)
    app.jinja_env.globals["page_language"] = page_language
    app.jinja_env.add_extension("jinja2.ext.i18n")
    app.jinja_env.policies["ext.i18n.trimmed"] = True
    app.jinja_env.install_gettext_callables(  # type: ignore[attr-defined]  # of the extension
        translated, _plural, newstyle=True, pgettext=translated_as
    )


def translated(text: str, **values: object) -> str:
    """The text in the language of the page, with ``values`` in the places of their names."""
    if not text:
        return ""  # the header of the catalogue has no text as its msgid
    return _filled(_catalogue(page_language()).gettext(text), values)


def translated_as(context: str, text: str, **values: object) -> str:
    """The text where it has another meaning than elsewhere, which ``context`` says."""
    return _filled(_catalogue(page_language()).pgettext(context, text), values)


def translated_count(singular: str, many: str, count: int, **values: object) -> str:
    """The text for so many of something, which stands as ``%(num)s`` in it."""
    return _filled(_plural(singular, many, count), {"num": count, **values})


def instant_text(moment: datetime) -> str:
    """``5 November 2026, 12:00 UTC``, as the language of the page writes it."""
    day = format_date(moment, "d MMMM y" if page_language() == SOURCE else "long", page_language())
    return f"{day}, {moment:%H:%M} UTC"


def marked(text: str) -> str:
    """A text for the catalogue that is translated where it is shown."""
    return text


def page_language() -> str:
    """The user's language, else the first of the browser's that there is, else the organisation's.

    The language that all accounts have at first says nothing. English where nobody asks.
    """
    if not has_request_context():
        return SOURCE
    if "page_language" not in g:
        wishes = (_known(tag) for tag in _wishes())
        g.page_language = next((each for each in wishes if each is not None), SOURCE)
    language: str = g.page_language
    return language


def account_language() -> str | None:
    """The language of the caller's account; None where nobody is signed in."""
    caller = find_caller()
    if caller is None:
        return None
    if "account_language" not in g:
        wanted = select(User.language).where(User.id == caller.user_id)
        with records.looking() as connection:
            g.account_language = connection.execute(wanted).scalar()
    language: str | None = g.account_language
    return language


def settle_without_asking() -> None:
    """Take the browser's language: a page about a fault asks for nothing."""
    wishes = (_known(tag) for tag in _of_browser())
    g.setdefault("page_language", next((each for each in wishes if each is not None), SOURCE))


@cache
def languages() -> tuple[str, ...]:
    """The languages of the pages: that of the msgids, and each that has a catalogue."""
    return (SOURCE, *sorted(path.parts[-3] for path in LOCALES.glob(f"*/LC_MESSAGES/{DOMAIN}.po")))


def catalogue_path(language: str) -> Path:
    """Where the texts of a language are."""
    return LOCALES / language / "LC_MESSAGES" / f"{DOMAIN}.po"


def _wishes() -> Iterator[str]:
    if (said := account_language()) is not None and said != UNSAID:
        yield said
    yield from _of_browser()
    yield organisation().defaults.language


def _of_browser() -> Iterator[str]:
    return (tag for tag, quality in request.accept_languages if quality > 0)


def _known(tag: str) -> str | None:
    language = tag.replace("_", "-").partition("-")[0].lower()
    return language if language in languages() else None


def msgids(language: str) -> frozenset[tuple[str | None, str]]:
    """The texts of a catalogue with their contexts; of those with a plural, the first."""
    return _read(language)[1]


def _catalogue(language: str) -> NullTranslations:
    return _ENGLISH if language == SOURCE else _read(language)[0]


@cache
def _read(language: str) -> tuple[GNUTranslations, frozenset[tuple[str | None, str]]]:
    """A catalogue and its msgids, read when they are first asked for: there is no step of building.

    What Babel reads has the places and notes of each text as well, and is not kept.
    """
    with catalogue_path(language).open("rb") as source:
        catalogue = read_po(source, locale=language)
    compiled = BytesIO()
    write_mo(compiled, catalogue)
    compiled.seek(0)
    texts = (
        (message.context, message.id if isinstance(message.id, str) else message.id[0])
        for message in catalogue
        if message.id
    )
    return GNUTranslations(compiled), frozenset(texts)


def _plural(singular: str, many: str, count: int) -> str:
    return _catalogue(page_language()).ngettext(singular, many, count)


def _filled(text: str, values: dict[str, object]) -> str:
    return text % values if values else text

"""The language of a page, and its texts: msgids are the English ones (gettext, Babel)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from babel.dates import format_date
from flask import Flask, g, has_request_context, request

from app.auth.users import language_of_account
from app.http.security import find_caller
from app.localisation.catalogue import (
    SOURCE,
    catalogue_of,
    catalogue_path,
    languages,
    marked,
    msgids,
)
from app.localisation.numbers import UNSAID
from app.settings import organisation

# What pages take from the catalogues of texts.
__all__ = ("SOURCE", "catalogue_path", "languages", "marked", "msgids")


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
    return _filled(catalogue_of(page_language()).gettext(text), values)


def translated_as(context: str, text: str, **values: object) -> str:
    """The text where it has another meaning than elsewhere, which ``context`` says."""
    return _filled(catalogue_of(page_language()).pgettext(context, text), values)


def translated_count(singular: str, many: str, count: int, **values: object) -> str:
    """The text for so many of something, which stands as ``%(num)s`` in it."""
    return _filled(_plural(singular, many, count), {"num": count, **values})


def instant_text(moment: datetime) -> str:
    """``5 November 2026, 12:00 UTC``, as the language of the page writes it."""
    day = format_date(moment, "d MMMM y" if page_language() == SOURCE else "long", page_language())
    return f"{day}, {moment:%H:%M} UTC"


def page_language() -> str:
    """The user's language, else the first of the browser's that there is, else the organisation's.

    The language that all accounts have at first says nothing. English where nobody asks.
    """
    if not has_request_context():
        return SOURCE
    language: str | None = g.get("page_language")
    if language is None:
        wishes = (_known(tag) for tag in _wishes())
        language = g.page_language = next((each for each in wishes if each is not None), SOURCE)
    return language


def account_language() -> str | None:
    """The language of the caller's account; None where nobody is signed in."""
    caller = find_caller()
    if caller is None:
        return None
    if "account_language" not in g:
        g.account_language = language_of_account(caller.user_id)
    language: str | None = g.account_language
    return language


def settle_without_asking() -> None:
    """Take the browser's language: a page about a fault asks for nothing."""
    wishes = (_known(tag) for tag in _of_browser())
    g.setdefault("page_language", next((each for each in wishes if each is not None), SOURCE))


def _wishes() -> Iterator[str]:
    if (language := account_language()) is not None and language != UNSAID:
        yield language
    yield from _of_browser()
    yield organisation().defaults.language


def _of_browser() -> Iterator[str]:
    return (tag for tag, quality in request.accept_languages if quality > 0)


def _known(tag: str) -> str | None:
    language = tag.replace("_", "-").partition("-")[0].lower()
    return language if language in languages() else None


def _plural(singular: str, many: str, count: int) -> str:
    return catalogue_of(page_language()).ngettext(singular, many, count)


def _filled(text: str, values: dict[str, object]) -> str:
    return text % values if values else text

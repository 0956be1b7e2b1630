"""The catalogues of texts in other languages: msgids are the English ones (gettext, Babel)."""

from __future__ import annotations

from functools import cache
from gettext import GNUTranslations, NullTranslations
from io import BytesIO
from pathlib import Path

from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

# The language of the msgids.
SOURCE = "en"
LOCALES = Path(__file__).parent.parent / "console" / "locales"
DOMAIN = "console"
# The context of heads of columns: "End" is a day there, and elsewhere a button.
COLUMN = "column"
# That of the labels of operations: a state may be called as the step to it is.
BUTTON = "button"
_ENGLISH = NullTranslations()


def marked(text: str) -> str:
    """A text for the catalogue that is translated where it is shown."""
    return text


def text_in(language: str, text: str, /, **values: object) -> str:
    """A text in a language, with ``values`` in the places of their names; else in English."""
    known = language if language in languages() else SOURCE
    translated = catalogue_of(known).gettext(text) if text else text
    return translated % values if values else translated


def text_as(language: str, context: str, text: str) -> str:
    """A text that may have another meaning in a context, such as at the head of a column."""
    known = language if language in languages() else SOURCE
    if known != SOURCE and (context, text) in msgids(known):
        return catalogue_of(known).pgettext(context, text)
    return text_in(known, text)


@cache
def languages() -> tuple[str, ...]:
    """That of the msgids, and each that has a catalogue."""
    return (SOURCE, *sorted(path.parts[-3] for path in LOCALES.glob(f"*/LC_MESSAGES/{DOMAIN}.po")))


def catalogue_path(language: str) -> Path:
    """Where the texts of a language are."""
    return LOCALES / language / "LC_MESSAGES" / f"{DOMAIN}.po"


def msgids(language: str) -> frozenset[tuple[str | None, str]]:
    """The texts of a catalogue with their contexts; of those with a plural, the first."""
    return _read(language)[1]


def catalogue_of(language: str) -> NullTranslations:
    """The texts of a language."""
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

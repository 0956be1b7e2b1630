"""The words of invoices: ``texts.toml`` has each text in every language."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from app.localisation.data_files import data_beside

LANGUAGES = ("de", "en", "es", "fr", "it", "pl", "ru")
FALLBACK = "en"


@dataclass(frozen=True)
class Texts:
    """The words of one language, by dotted name: ``texts("labels.due_date")``."""

    language: str
    words: Mapping[str, str]

    def __call__(self, name: str, /, **values: str) -> str:
        """The text, with ``values`` in the places of the same names."""
        text = self.words[name]
        return text.format(**values) if values else text

    def find(self, name: str) -> str | None:
        """The text, if there is one of that name (units and the like)."""
        return self.words.get(name)


def units(tag: str = FALLBACK) -> Mapping[str, str]:
    """Code of a unit -> what is written for it in a language."""
    return _units(language_of(tag))


def language_of(tag: str) -> str:
    """The language written for a language tag: ``de-AT`` is written in ``de``, ``ja`` in ``en``."""
    primary = tag.replace("_", "-").partition("-")[0].lower()
    return primary if primary in LANGUAGES else FALLBACK


def texts_for(tag: str) -> Texts:
    """The words for a language tag."""
    return _texts()[language_of(tag)]


@cache
def _units(language: str) -> Mapping[str, str]:
    prefix, words = "units.", texts_for(language).words.items()
    return {name.removeprefix(prefix): text for name, text in words if name.startswith(prefix)}


@cache
def _texts() -> Mapping[str, Texts]:
    """The words of all languages, by language."""
    groups = data_beside(__file__, "texts.toml")
    words: dict[str, dict[str, str]] = {language: {} for language in LANGUAGES}
    for group, texts in groups.items():
        for name, by_language in texts.items():
            for language, text in by_language.items():
                words[language][f"{group}.{name}"] = text
    return {language: Texts(language, words[language]) for language in LANGUAGES}

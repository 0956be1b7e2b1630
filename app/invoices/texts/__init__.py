"""The words of invoices, one TOML file a language, beside this one."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

LANGUAGES = ("de", "en", "es", "fr", "it", "pl", "ru")
FALLBACK = "en"


@dataclass(frozen=True)
class Texts:
    """The words of one language, by dotted name: ``texts("labels.due_date")``."""

    language: str
    words: Mapping[str, str]

    def __call__(self, name: str, /, **values: str) -> str:
        """The text, with ``values`` in the places of the same names; English until translated."""
        text = self.words[name] if name in self.words else _load(FALLBACK).words[name]
        return text.format(**values) if values else text

    def find(self, name: str) -> str | None:
        """The text, if this language has one of that name (units and the like)."""
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
    return _load(language_of(tag))


@cache
def _units(language: str) -> Mapping[str, str]:
    words = _load(language).words
    prefix = "units."
    return {
        name.removeprefix(prefix): text for name, text in words.items() if name.startswith(prefix)
    }


@cache
def _load(language: str) -> Texts:
    source = files(__package__).joinpath(f"{language}.toml").read_text(encoding="utf-8")
    return Texts(language, dict(_flatten(tomllib.loads(source))))


def _flatten(tree: Mapping[str, object], prefix: str = "") -> list[tuple[str, str]]:
    texts = []
    for name, value in tree.items():
        if isinstance(value, dict):
            texts.extend(_flatten(value, f"{prefix}{name}."))
        else:
            texts.append((prefix + name, str(value)))
    return texts

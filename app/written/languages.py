"""Languages as people write them: by code, or by name in the languages that files come in."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from babel import Locale

from app.written.code_names import LANGUAGES, code_named


def language_code(text: str) -> str | None:
    """The code of ISO 639-1 for a name or a code; None for what is neither, and for a region."""
    code = text.strip().lower()
    return code if code in language_names(LANGUAGES[0]) else code_named(text, language_names)


@cache
def language_names(language: str) -> Mapping[str, str]:
    """The codes of languages with their names in a language."""
    return {code: name for code, name in Locale(language).languages.items() if len(code) == 2}

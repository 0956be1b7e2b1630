"""Codes that people read and write as words of their language: of units, countries, languages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from app.console.language import page_language
from app.console.typed import MistypedError
from app.importing.units import unit_code
from app.invoices.texts import units
from app.localisation.code_names import (
    UNKNOWN_COUNTRY,
    country_code,
    country_names,
    language_code,
    language_names,
)


@dataclass(frozen=True)
class CodeList:
    """Codes with their names: ``code_of`` reads either, ``names`` has them by language."""

    code_of: Callable[[str], str | None]
    names: Callable[[str], Mapping[str, str]]


UNIT, COUNTRY, LANGUAGE = "unitCode", "country", "language"
# Property -> the list of its codes.
LISTS: Mapping[str, CodeList] = {
    UNIT: CodeList(unit_code, units),
    COUNTRY: CodeList(country_code, country_names),
    LANGUAGE: CodeList(language_code, language_names),
}


def list_of(name: str) -> str:
    """The list of a property, ``billingAddress.country`` too; empty for one without."""
    last = name.rpartition(".")[2].rpartition("/")[2]
    return last if last in LISTS else ""


def code_name(name: str, code: str) -> str:
    """``h`` for ``HUR``, where that is read as the same code again: ``pc.`` is one of several."""
    codes = LISTS[list_of(name)]
    text = codes.names(page_language()).get(code, code)
    return text if codes.code_of(text) == code else code


def typed_code(name: str, text: str) -> str:
    """The code that was typed, or its name; a unit or a language that is neither stays for the
    service to take or to refuse.

    Raises: MistypedError, there is no such country.
    """
    code = LISTS[list_of(name)].code_of(text)
    if code is None and list_of(name) == COUNTRY:
        raise MistypedError(UNKNOWN_COUNTRY)
    return code or text


def code_names(name: str, first: Iterable[str] = ()) -> list[str]:
    """What may be chosen in place of typing: the codes of ``first``, then all that have a name."""
    codes = LISTS[name].names(page_language())
    names = [text for code in codes if (text := code_name(name, code)) != code]
    if name != UNIT:
        names.sort()
    return list(dict.fromkeys([*sorted(code_name(name, code) for code in first), *names]))

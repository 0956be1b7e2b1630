"""How somebody writes numbers, by language and country (CLDR)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from babel import localedata

from app.written.numbers import ENGLISH, Signs, plain_sign

# The language that accounts and the organisation have where nobody has chosen one: it does not
# say how its users write numbers.
UNSAID = "en"


def signs_for(language: str, own_language: str, own_country: str | None) -> Signs | None:
    """How a user writes numbers; None where that is not known.

    A language that was chosen says it, with its region or, without one, in the organisation's
    country. The one that everybody has at first says it as far as the organisation writes so too.

    Args:
        language: of the user, such as ``de`` or ``en-GB``.
        own_language: that of the organisation.
        own_country: that of the organisation, ISO 3166.
    """
    if language != UNSAID:
        return signs_of(language, own_country)
    if own_language == UNSAID and not own_country:
        return None
    own = signs_of(own_language, own_country)
    return own if own is not None and own.decimals == ENGLISH.decimals else None


@lru_cache(maxsize=128)
def signs_of(language: str, country: str | None = None) -> Signs | None:
    """The signs of a language tag; ``country`` counts where the tag has no region."""
    name = locale_of(language, country)
    if name is None:
        return None
    if name == UNSAID:
        return ENGLISH  # the data of a locale is large
    data = localedata.load(name)
    systems = {"latn", data["default_numbering_system"]}
    symbols = [data["number_symbols"].get(system, {}) for system in systems]
    return Signs(
        _those(symbols, "decimal", "currencyDecimal"), _those(symbols, "group", "currencyGroup")
    )


def locale_of(language: str, country: str | None = None) -> str | None:
    """The locale that is known for a tag, with the region or the country if it can be.

    ``en`` in ``DE`` is ``en_DE``; ``zh-XX`` is ``zh``; None for a language that is not known.
    """
    parts = language.replace("-", "_").split("_")
    has_region = any(len(part) == 2 for part in parts[1:])
    names = ["_".join(parts[:count]) for count in range(len(parts), 0, -1)]
    if country and not has_region:
        names.insert(0, f"{names[0]}_{country}")
    for name in names:
        known: str | None = localedata.normalize_locale(name)
        if known is not None:
            return known
    return None


def _those(symbols: Iterable[Mapping[str, Any]], *names: str) -> frozenset[str]:
    return frozenset(plain_sign(each[name]) for each in symbols for name in names if name in each)

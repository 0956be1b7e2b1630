"""The words of the model, such as states, as people read them in each language."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

from app.container.model import container
from app.odata.model import edm
from app.odata.names import apart
from app.written.catalogue import SOURCE, marked, text_in

# Codes of the kinds of tax in e-invoices (UNCL 5305), with what they stand for.
_TAX_KINDS: Mapping[str, str] = {
    "S": marked("S standard"), "Z": marked("Z zero rate"), "E": marked("E exempt"),
    "AE": marked("AE reverse charge"), "K": marked("K within the EU"), "G": marked("G export"),
    "O": marked("O not taxable"),
}  # fmt: skip


def word_text(word: str, language: str = SOURCE) -> str:
    """``ClosedWon`` -> ``Closed Won``, ``creditCard`` -> ``credit card``; ``G`` -> ``G export``."""
    if word in _TAX_KINDS:
        return text_in(language, _TAX_KINDS[word])
    words = apart(word)
    return text_in(language, words.lower() if word[:1].islower() else words)


def options_of(property_: edm.Property) -> tuple[str, ...]:
    """The words of the model that a property can be; none where it is no choice."""
    if isinstance(property_.type, edm.EnumType):
        return tuple(property_.type.members)
    return property_.allowed or ()


def are_words(values: Iterable[str]) -> bool:
    """Whether they are all what one property of the model can be."""
    chosen = set(values)
    return any(chosen <= options for options in _word_sets())


@cache
def _word_sets() -> frozenset[frozenset[str]]:
    return frozenset(
        frozenset(options_of(property_))
        for entity_set in container().sets.values()
        for property_ in entity_set.type.properties.values()
    )


@cache
def names_of_words() -> frozenset[str]:
    """The names of properties whose values are words of the model."""
    return frozenset(
        property_.name
        for entity_set in container().sets.values()
        for property_ in entity_set.type.properties.values()
        if options_of(property_)
    )

"""The words of the model, such as states, as people read them in each language."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache

from app.container.model import container
from app.localisation.catalogue import SOURCE, marked, text_as, text_in
from app.odata.model import edm
from app.odata.names import apart

# Codes of the kinds of tax in e-invoices (UNCL 5305), with what they stand for.
_TAX_KINDS: Mapping[str, str] = {
    "S": marked("S standard"), "Z": marked("Z zero rate"), "E": marked("E exempt"),
    "AE": marked("AE reverse charge"), "K": marked("K within the EU"), "G": marked("G export"),
    "O": marked("O not taxable"),
}  # fmt: skip
# Words that stay as they are inside a label.
_KEPT = {"id": "ID", "sku": "SKU", "kb": "KB", "url": "URL", "sla": "SLA", "iban": "IBAN",
         "bic": "BIC", "pdf": "PDF", "sha256": "SHA-256", "email": "e-mail",
         "ai": "AI", "api": "API"}  # fmt: skip
# Names that say their unit, where the page shows another, or that nobody writes as one word.
_CALLED = {"seconds": marked("Time before"), "username": marked("User name"),
           "unitCode": marked("Unit"), "lineNet": marked("Net")}  # fmt: skip
# Texts that identify, not the keys of other records.
_IDENTIFIERS = ("taxId", "eInvoiceId", "externalId", "clientExternalId")
_PATH = re.compile(r"[\w./-]+", re.ASCII)


def word_text(word: str, language: str = SOURCE) -> str:
    """``ClosedWon`` -> ``Closed Won``, ``creditCard`` -> ``credit card``; ``G`` -> ``G export``."""
    if word in _TAX_KINDS:
        return text_in(language, _TAX_KINDS[word])
    words = apart(word)
    return text_in(language, words.lower() if word[:1].islower() else words)


def label_text(name: str, language: str = SOURCE) -> str:
    """What is called ``dueDate`` in the model: ``Due date``; ``clientId`` is ``Client``."""
    text = _in_english(name)
    # Of an address; elsewhere a state is what something is in.
    return text_as(language, "address" if name == "state" else "", text)


@lru_cache(maxsize=1024)  # the properties of the model, several times those that there are
def _in_english(name: str) -> str:
    if name in _CALLED:
        return _CALLED[name]
    if not _PATH.fullmatch(name):
        return name  # the heading of a file, as it stands there
    parts = re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])", name)
    if len(parts) > 1 and parts[-1] == "Id" and name not in _IDENTIFIERS:
        parts.pop()
    words = [_KEPT.get(part.lower(), part.lower()) for part in parts]
    text = " ".join(words).replace("e invoice", "e-invoice", 1)
    return text[:1].upper() + text[1:]


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

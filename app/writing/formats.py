"""Formats of values, each checked by a library that knows it (docs/adr/0017).

Every function takes a text of the right length and returns the text to keep, or raises
``BadValueError``. Answers are cached: the same few countries, languages and addresses come again.
"""

from __future__ import annotations

import ipaddress
import re
import unicodedata
import zoneinfo
from collections.abc import Callable, Mapping
from functools import cache, lru_cache, partial
from urllib.parse import urlsplit

import idna
import phonenumbers
from babel import Locale, UnknownLocaleError, localedata
from email_validator import EmailNotValidError, validate_email
from email_validator.syntax import validate_email_domain_name, validate_email_local_part
from iso4217 import Currency
from stdnum import exceptions as stdnum_errors, get_cc_module

from app.http.schema_fields import BadValueError

# How a telephone number begins, if not with a digit; a plus of full width among them.
_NUMBERS_BEGIN = frozenset("+(\uff0b\uff08[")
# Countries of ISO 3166-1 without a telephone plan, and the regions with one that are none: islands
# with a reserved code. XK (Kosovo) is no entry of the standard either, but post and trade use it.
_NO_TELEPHONES = frozenset(("AQ", "BV", "GS", "HM", "PN", "TF", "UM"))
_NO_COUNTRIES = frozenset(("AC", "TA"))
# Prefixes of VAT numbers: the members of the union, with EL for Greece, and its neighbours.
_VAT_PREFIXES = frozenset(
    (
        "AT", "BE", "BG", "CY", "CZ", "DE", "DK", "EE", "EL", "ES", "FI", "FR", "GB", "GR", "HR",
        "HU", "IE", "IT", "LT", "LU", "LV", "MT", "NL", "PL", "PT", "RO", "SE", "SI", "SK",
    )
)  # fmt: skip
_PLAIN_LANGUAGE = re.compile("[a-z]{2,3}(-[A-Z]{2})?").fullmatch
_SHORTEST_TAX_ID = 2
LONGEST_USER_NAME = 150
# Longer ones are measured in full, in the form that mail servers see.
_SHORT_ADDRESS = 200


def email(text: str) -> str:
    """An e-mail address; its domain in lower case. No look-up in the DNS."""
    address = text.strip()
    local, _, domain = address.rpartition("@")
    try:
        if _is_plain(local) and len(address) < _SHORT_ADDRESS:
            # Addresses of a domain come in numbers, and its check is most of the work.
            validate_email_local_part(local)
            return f"{local}@{_email_domain(domain)}"
        address_parts = validate_email(address, check_deliverability=False, test_environment=True)
    except EmailNotValidError:
        raise BadValueError("must be an e-mail address such as info@example.com") from None
    return address_parts.normalized


def _is_plain(local: str) -> bool:
    """Whether the part before the @ needs neither quotes nor Unicode nor folding of its case."""
    return local.isascii() and local == local.lower() and '"' not in local and "<" not in local


@lru_cache(maxsize=4096)
def _email_domain(domain: str) -> str:
    # Addresses under .test pass: they are what integrations are tried with.
    return str(validate_email_domain_name(domain, test_environment=True)["domain"])


@lru_cache(maxsize=4096)
def phone(text: str) -> str:
    """A telephone number that can exist, kept as typed.

    With ``+`` the plan of its country decides; without, any country's: Germany's plan has the
    shortest and the longest numbers, so it refuses what is none at all. The library looks for a
    number anywhere in a text; here it stands at the beginning.
    """
    first = text.strip().removeprefix("tel:")[:1]
    if not first.isdecimal() and first not in _NUMBERS_BEGIN:
        raise BadValueError("must be a telephone number such as +49 30 901820")
    try:
        number = phonenumbers.parse(text, "DE")
    except phonenumbers.NumberParseException:
        raise BadValueError("must be a telephone number such as +49 30 901820") from None
    if not phonenumbers.is_possible_number(number):
        raise BadValueError("must be a telephone number of a length that exists in its country")
    return text.strip()


@lru_cache(maxsize=4096)
def url(text: str) -> str:
    """An absolute address on the web."""
    address = text.strip()
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host, parts = None, urlsplit("")
    blank = any(character.isspace() or ord(character) < 32 for character in address)
    if blank or parts.scheme not in ("http", "https") or not host or not _is_host(host):
        raise BadValueError("must be a web address such as https://example.com")
    return address


def _is_host(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        try:
            idna.encode(host, uts46=True)
        except idna.IDNAError:
            return False
    return True


@cache
def _countries() -> frozenset[str]:
    # To ask Babel would load all its names, which stay: four megabytes.
    return (_NO_TELEPHONES | phonenumbers.SUPPORTED_REGIONS) - _NO_COUNTRIES


def country(text: str) -> str:
    """A country code of ISO 3166-1 alpha-2, in upper case."""
    code = text.strip().upper()
    if code not in _countries():
        raise BadValueError("must be a country code of ISO 3166-1 such as DE")
    return code


@cache
def currencies() -> frozenset[str]:
    """The codes of ISO 4217."""
    return frozenset(str(currency.value) for currency in Currency)


def currency(text: str) -> str:
    """A currency code of ISO 4217, in upper case."""
    code = text.strip().upper()
    if code not in currencies():
        raise BadValueError("must be a currency code of ISO 4217 such as EUR")
    return code


@lru_cache(maxsize=512)
def language(text: str) -> str:
    """A language tag such as ``en`` or ``de-AT``."""
    tag = text.strip()
    # A ``Locale`` loads what is likely where something is left out: two megabytes.
    if _PLAIN_LANGUAGE(tag) and localedata.exists(tag.replace("-", "_")):
        return tag
    try:
        Locale.parse(tag, sep="-")
    except (ValueError, UnknownLocaleError, TypeError):
        raise BadValueError("must be a language such as en or de-AT") from None
    return tag


@lru_cache(maxsize=512)
def time_zone(text: str) -> str:
    """A name of the IANA time zone database."""
    if text not in zoneinfo.available_timezones():
        raise BadValueError("must be a time zone such as Europe/Berlin")
    return text


@lru_cache(maxsize=4096)
def tax_id(text: str) -> str:
    """A tax number as typed; with the prefix of a VAT number, one that its country could give.

    A wrong check digit passes: numbers change hands with it, and the pre-flight of an e-invoice
    is where it matters.
    """
    number = text.strip()
    if len(number) < _SHORTEST_TAX_ID or not number.isprintable():
        raise BadValueError("must be a tax number of 2 to 32 printable characters")
    module = vat_check(number)
    if module is not None:
        try:
            module(number)
        except (stdnum_errors.InvalidChecksum, stdnum_errors.InvalidComponent):
            pass
        except stdnum_errors.ValidationError:
            raise BadValueError("has the prefix of a VAT number, but not the form of one") from None
    return number


def vat_check(number: str) -> Callable[[str], str] | None:
    """The full check of a VAT number by its prefix, or None where it has no such prefix."""
    return _vat_module(number[:2].upper())


@cache
def _vat_module(prefix: str) -> Callable[[str], str] | None:
    if prefix not in _VAT_PREFIXES:
        return None
    module = get_cc_module("gr" if prefix == "EL" else prefix.lower(), "vat")
    return module.validate if module else None


def fold_name(name: str) -> str:
    """The form in which two spellings of one user name are equal."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold()).strip()


def user_name(text: str) -> str:
    """A name to sign in with, whose folded form is no longer than a name may be."""
    if not 0 < len(fold_name(text)) <= LONGEST_USER_NAME:
        raise BadValueError(f"must have 1 to {LONGEST_USER_NAME} characters")
    if not text.isprintable():
        raise BadValueError("must have printable characters only")
    return text


FORMATS: Mapping[str, Callable[[str], str]] = {
    "email": email,
    "phone": phone,
    "url": url,
    "country": country,
    "currency": currency,
    "language": language,
    "time_zone": time_zone,
    "tax_id": tax_id,
    "user_name": user_name,
    # As Windows and most people write it, whatever a Mac sends: what is searched for is found.
    "file_name": partial(unicodedata.normalize, "NFC"),
}

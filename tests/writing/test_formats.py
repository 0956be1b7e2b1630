"""Formats of values: what libraries take and refuse, and what is kept."""

from __future__ import annotations

import itertools
import operator
import string

import pytest
from babel import Locale
from email_validator import EmailNotValidError, validate_email

from app.http.schema_fields import BadValueError
from app.writing.formats import FORMATS, currencies

ACCEPTED = [
    ("email", "info@Example.COM", "info@example.com"),
    ("email", "o'brien+tag@mail.example.co.uk", None),
    ("email", "grüße@bücher.example", None),
    ("email", "a@acme.test", None),
    ("phone", "+49 30 901820", None),
    ("phone", "+1 (555) 010-0199", None),
    ("phone", "030/901820", None),
    ("phone", "tel:+49-30-901820", None),
    ("phone", "\uff0b49 30 901820", None),
    ("phone", "(555) 123-4567", None),
    ("url", "https://example.com/a?b=c#d", None),
    ("url", "http://127.0.0.1:8080", None),
    ("url", "https://bücher.example", None),
    ("country", "de", "DE"),
    ("country", "GB", None),
    ("currency", "eur", "EUR"),
    ("currency", "JPY", None),
    ("language", "de-AT", None),
    ("language", "zh-Hans", None),
    ("time_zone", "Europe/Berlin", None),
    ("tax_id", "DE123456789", None),
    ("tax_id", "DE 123 456 789", None),
    ("tax_id", "12-3456789", None),
    ("tax_id", "PL1234567890", None),
    ("tax_id", "EL123456789", None),
]
REFUSED = [
    ("email", "info"), ("email", "a@b"), ("email", "a b@example.com"), ("email", "a@localhost"),
    ("email", "<a@example.com>"), ("email", "a@example..com"), ("email", "a@b.c\r\nBcc: d@e.f"),
    ("phone", "call me"), ("phone", "'+49 30 901820"), ("phone", "\u2019030 901820"),
    ("phone", "=+49 30 901820"), ("phone", "@030 901820"), ("phone", "-030 901820"),
    ("phone", "Office: 030 901820"), ("phone", "\t'030 901820"), ("phone", ""),
    ("phone", "+1"), ("phone", "1"), ("phone", "+49 30 901820 901820 901820"),
    ("url", "example.com"), ("url", "ftp://example.com"), ("url", "javascript:alert(1)"),
    ("url", "https://"), ("url", "https://a b.de"), ("url", "https://exa\nmple.com"),
    ("url", "https://example.com:99999"),
    ("country", "XX"), ("country", "EU"), ("country", "DEU"), ("country", "1"),
    ("currency", "DEM"), ("currency", "EURO"), ("language", "english"), ("language", "xx"),
    ("language", "de_DE"), ("time_zone", "Berlin"), ("time_zone", "../etc/passwd"),
    ("tax_id", "1"), ("tax_id", "DE12"), ("tax_id", "AT123"), ("tax_id", "12\t34"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "kept"), ACCEPTED)
def test_accepted(name: str, text: str, kept: str | None) -> None:
    assert FORMATS[name](text) == (kept or text)


@pytest.mark.parametrize(("name", "text"), REFUSED)
def test_refused(name: str, text: str) -> None:
    with pytest.raises(BadValueError, match=r"^(must|has)"):
        FORMATS[name](text)


ADDRESSES = [
    "a@b.de", "A.B@B.de", "a..b@b.de", ".a@b.de", "a.@b.de", "@b.de", "a@", "a@@b.de", "a@b@c.de",
    '"a b"@b.de', "a<b@c.de", "<a@b.de>", "x <a@b.de>", "a@[127.0.0.1]", "a" * 65 + "@b.de",
    "a" * 64 + "@b.de", "a@" + "b" * 64 + ".de", "a@" + "b." * 120 + "de", "postmaster@b.de",
    "Postmaster@b.de", "ä@b.de", "a@ä.de", "a@B.DE", "a b@c.de", "a@b.de\n", "a\t@b.de", "a@-b.de",
    "a+b@c.de", "a!#$%&'*/=?^_`{|}~@b.de", "a,b@c.de", "a;b@c.de", "a:b@c.de", "a@b_c.de", "",
]  # fmt: skip


@pytest.mark.parametrize("address", ADDRESSES)
def test_the_short_way_to_an_address_says_what_the_library_says(address: str) -> None:
    try:
        expected = validate_email(
            address.strip(), check_deliverability=False, test_environment=True
        ).normalized
    except EmailNotValidError:
        expected = None
    try:
        normal = FORMATS["email"](address)
    except BadValueError:
        normal = None
    assert normal == expected


def test_currencies_are_those_in_use() -> None:
    assert {"EUR", "USD", "GBP", "CHF", "JPY"} < currencies()
    assert not {"DEM", "FRF", "EUR "} & currencies()


def test_countries_are_those_that_babel_names() -> None:
    # Unions, test regions, and islands with a reserved code are no countries.
    no_countries = {
        "AC", "CP", "CQ", "DG", "EA", "EU", "EZ", "IC", "QO", "TA", "UN", "XA", "XB", "ZZ",
    }  # fmt: skip
    named = {code for code in Locale("en").territories if len(code) == 2 and code.isalpha()}
    tried = itertools.starmap(operator.add, itertools.product(string.ascii_uppercase, repeat=2))
    assert {code for code in tried if _is_country(code)} == named - no_countries


def _is_country(code: str) -> bool:
    try:
        return FORMATS["country"](code) == code
    except BadValueError:
        return False

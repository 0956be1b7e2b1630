"""When two texts mean the same e-mail address, tax number, telephone number or name; and columns
that hold the normal form of another one, so that an index finds what is the same.

One function each gives the normal form: what has the same form is the same. Lead matching, imports,
duplicates and the search compare forms, never the texts (docs/adr/0017).

The columns follow their column with every write, and show nowhere. The migration that adds such
one, and the job that runs after the organisation has moved to another country, fill what is empty.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Any, NamedTuple

import idna
import phonenumbers
from sqlalchemy import Connection, Table, and_, update
from stdnum import exceptions as stdnum_errors, get_cc_module

from app.models.client import Client, Contact
from app.models.lead import Lead
from app.models.searched import search_text

_LEGAL_FORMS = frozenset(
    """ab ag aps as bv co company corp corporation cv eg ek eu gbr gmbh inc incorporated kft kg
    kgaa limited llc llp ltd mbh nv oao ohg ooo oy oyj plc pty sa sarl sas sl spa srl sro ug und
    and the""".split()  # noqa: SIM905
)
# What stands between the characters of a tax number.
_BETWEEN = re.compile(r"[^0-9A-Z+*&]+")
_SWISS = re.compile(r"(CHE[0-9]{9})(?:MWST|TVA|IVA|TPV)?")
# Prefixes of VAT numbers whose form a library knows.
_VAT_COUNTRIES = frozenset(
    """at be bg cy cz de dk ee es fi fr gb hr hu ie it lt lu lv mt nl no pl pt ro se si
    sk""".split()  # noqa: SIM905
)
_NOT_DIGITS = re.compile("[^0-9]+")


def email_form(text: str) -> str:
    """An e-mail address without case, its domain in Unicode.

    Case counts in no domain (RFC 5321, 2.4), and in the names of no server that people use; a dot
    in a name is a part of it, whatever one provider makes of it.
    """
    local, _, domain = text.strip().rpartition("@")
    domain = domain.casefold().removesuffix(".")
    if "xn--" in domain:
        with suppress(idna.IDNAError):  # what is none stays as it is written
            domain = idna.decode(domain)
    return f"{local.casefold()}@{domain}" if local else domain


def tax_id_form(text: str) -> str:
    """A tax number without case and what stands between its characters.

    A VAT number has its prefix, EL for Greece, and the length that its country gives it:
    ``BE 428.759.497`` is ``BE0428759497``. One without prefix stays apart: nothing says whose it
    is.
    """
    plain = _BETWEEN.sub("", text.upper())
    if swiss := _SWISS.fullmatch(plain):
        return swiss[1]
    prefix, remainder = plain[:2].lower(), plain[2:]
    if prefix in ("gr", "el"):
        return f"EL{remainder}"
    module = get_cc_module(prefix, "vat") if prefix in _VAT_COUNTRIES else None
    if module is None or not any(map(str.isdigit, remainder)):
        return plain
    try:
        compact = str(module.compact(plain))
    except (stdnum_errors.ValidationError, ValueError):
        return plain
    return f"{prefix.upper()}{compact.upper().removeprefix(prefix.upper())}"


@lru_cache(maxsize=4096)
def phone_form(text: str, country: str | None) -> str:
    """A telephone number in E.164, an extension behind it: ``+4930901820;ext=12``.

    Args:
        country: whose national numbers have no ``+`` (ISO 3166-1); without one, and for what is no
            number there, the form is the digits.
    """
    try:
        number = phonenumbers.parse(text, country)
    except phonenumbers.NumberParseException:
        return _NOT_DIGITS.sub("", text)
    if not phonenumbers.is_possible_number(number):
        return _NOT_DIGITS.sub("", text)
    form = phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)
    return f"{form};ext={number.extension}" if number.extension else str(form)


def is_national(text: str) -> bool:
    """Whether the form of a telephone number depends on the country it is dialled in."""
    return not text.lstrip().startswith("+")


def name_form(text: str) -> str:
    """A name without case, accents, punctuation and legal forms, unless it has nothing else."""
    words = search_text(text).split()
    return " ".join([word for word in words if word not in _LEGAL_FORMS] or words)


# Kind of a column's ``normal_form`` -> form of a text, given the country of the organisation.
FORMS: dict[str, Callable[[str, str | None], str]] = {
    "email": lambda text, country: email_form(text),
    "tax_id": lambda text, country: tax_id_form(text),
    "phone": phone_form,
}


TABLES: tuple[Any, ...] = (Client.__table__, Contact.__table__, Lead.__table__)


class NormalForm(NamedTuple):
    """The column ``name`` holds the form of the column ``of``; ``kind`` is that of ``FORMS``."""

    name: str
    of: str
    kind: str

    def value(self, text: str | None, country: str | None) -> str | None:
        """The form of a text, given the country of the organisation."""
        return None if text is None else FORMS[self.kind](text, country)


@lru_cache(maxsize=64)
def normal_forms_of(table: Table) -> tuple[NormalForm, ...]:
    """The columns of a table that hold a form."""
    return tuple(
        NormalForm(column.name, *column.info["normal_form"])
        for column in table.columns
        if "normal_form" in column.info
    )


def forms_of(
    table: Table, row: Mapping[str, Any], country: Callable[[], str | None]
) -> dict[str, str | None]:
    """The forms of the values that ``row`` has, by the names of their columns.

    Args:
        country: that of the organisation, asked for where a number is dialled within it.
    """
    forms: dict[str, str | None] = {}
    for form in normal_forms_of(table):
        if form.of in row:
            text = row[form.of]
            asks = text is not None and form.kind == "phone" and is_national(text)
            forms[form.name] = form.value(text, country() if asks else None)
    return forms


def forget_national_forms(connection: Connection) -> None:
    """Empty the forms of numbers that are dialled otherwise in another country.

    A job makes them anew (app/crm/normal_forms.py).
    """
    for table in TABLES:
        for form in normal_forms_of(table):
            if form.kind == "phone":
                source = table.c[form.of]
                national = and_(source.is_not(None), ~source.startswith("+"))
                connection.execute(update(table).where(national).values({form.name: None}))

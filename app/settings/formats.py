"""Formats that only settings have: what the organisation says of itself must be right."""

from __future__ import annotations

import re

from stdnum import bic as stdnum_bic, exceptions as stdnum_errors, iban as stdnum_iban

from app.http.schema_fields import BadValueError
from app.writing.formats import tax_id, vat_check


def own_tax_id(text: str) -> str:
    """A tax number; with the prefix of a VAT number, one whose check digits are right too."""
    number = tax_id(text)
    check = vat_check(number)
    if check is not None:
        try:
            check(number)
        except stdnum_errors.ValidationError:
            raise BadValueError("has the prefix of a VAT number, but is not valid") from None
    return number


def iban(text: str) -> str:
    """An IBAN with the right length for its country and right check digits, without spaces."""
    try:
        return str(stdnum_iban.validate(text))
    except stdnum_errors.ValidationError:
        raise BadValueError("must be a valid IBAN such as DE02 1203 0000 0000 2020 51") from None


def bic(text: str) -> str:
    """A BIC of 8 or 11 characters, in capitals."""
    try:
        return str(stdnum_bic.validate(text))
    except stdnum_errors.ValidationError:
        raise BadValueError("must be a BIC such as BYLADEM1001") from None


def series(text: str) -> str:
    """The name of a number series: letters, digits and hyphens."""
    if not (text.isascii() and text.replace("-", "").isalnum()):
        raise BadValueError("must have letters, digits and hyphens only")
    return text


def endpoint_scheme(text: str) -> str:
    """A code of the list of electronic address schemes (EAS): four digits, or EM and the like."""
    code = text.upper()
    if not re.fullmatch("[0-9]{4}", code) and code not in ("AN", "AQ", "AS", "AU", "EM"):
        raise BadValueError("must be a code of the EAS list such as 0204 or EM")
    return code


FORMATS = {
    "own_tax_id": own_tax_id,
    "iban": iban,
    "bic": bic,
    "series": series,
    "endpoint_scheme": endpoint_scheme,
}

"""What a single setting may be: the field that reads its JSON value, and formats of its own."""

from __future__ import annotations

import re
from dataclasses import field
from decimal import Decimal
from typing import Any

from stdnum import bic as stdnum_bic, exceptions as stdnum_errors, iban as stdnum_iban

from app.http import schema_bounds as validate, schema_fields as fields
from app.http.schema_fields import BadValueError, Field
from app.http.schema_parts import JsonBoolean
from app.odata.payload.values import read_decimal
from app.writing.fields import Text, WholeNumber
from app.writing.formats import FORMATS as COMMON_FORMATS, currency, tax_id, vat_check


class Exact(fields.Decimal):
    """A number of at most so many decimals, as it is written."""

    def __init__(self, scale: int, **options: Any) -> None:
        super().__init__(**options)
        self._scale = scale

    def _deserialize(self, value: Any, *_: Any, **__: Any) -> Decimal:
        number = read_decimal(value)
        if -int(number.as_tuple().exponent) > self._scale:
            raise BadValueError(f"must have at most {self._scale} decimals")
        return number


def setting(read: Field, default: Any = None) -> Any:
    """A setting whose JSON value ``read`` takes; a default that could be changed is made anew."""
    if callable(default):
        return field(default_factory=default, metadata={"read": read})
    return field(default=default, metadata={"read": read})


def text(
    about: str, default: str | None = None, *, most: int = 200, form: str = "", example: str = ""
) -> Any:
    """A text of at most ``most`` characters, of a ``form`` of the formats; blank is the default."""
    check = FORMATS.get(form, str)
    read = Text(
        most, lambda text: check(text.strip()), allow_none=True, description=about,
        example=example or default,
    )  # fmt: skip
    return setting(read, default)


def percent(about: str, default: Decimal) -> Any:
    """A rate from 0 to 100, in percent."""
    bounds = validate.Range(0, 100)
    read = Exact(2, validate=bounds, allow_none=True, description=about, example=int(default))
    return setting(read, default)


def whole(about: str, default: int, *, least: int, most: int) -> Any:
    """A whole number."""
    bounds = validate.Range(least, most)
    read = WholeNumber(32, validate=bounds, allow_none=True, description=about, example=default)
    return setting(read, default)


def flag(about: str, default: bool) -> Any:
    """True or false."""
    return setting(JsonBoolean(allow_none=True, description=about, example=default), default)


def own_tax_id(text: str) -> str:
    """A tax number, which has digits; with the prefix of a VAT number, one that is valid."""
    number = tax_id(text)
    if not any(map(str.isdecimal, number)):
        raise BadValueError("must be a tax number, which has digits")
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


def currency_code(text: str) -> str:
    """A currency code of ISO 4217, as it is written there."""
    if currency(text) != text:
        raise BadValueError("must be a currency code in capitals, such as USD")
    return text


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


# What a text may have to be: what the columns know, and what only settings have.
FORMATS = {
    **COMMON_FORMATS,
    **{check.__name__: check for check in (own_tax_id, iban, bic, series, endpoint_scheme)},
}

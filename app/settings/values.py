"""What a single setting may be: each check takes a JSON value and returns the value to keep."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import field
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Any

from stdnum import bic as stdnum_bic, exceptions as stdnum_errors, iban as stdnum_iban

from app.errors import Detail
from app.http.schema_bounds import require_line
from app.http.schema_fields import BadValueError
from app.odata.payload.values import read_string
from app.writing.formats import FORMATS as COMMON_FORMATS, tax_id, vat_check

Check = Callable[[Any], Any]
# Fractions of a number that is kept.
_RATE_SCALE, _RATE_MAXIMUM = 8, Decimal(10) ** 9


class BadPartsError(Exception):
    """Some members of a setting are wrong; their names are below that of the setting."""

    def __init__(self, problems: list[Detail]) -> None:
        super().__init__()
        self.problems = problems


def text(about: str, default: str | None = None, *, most: int = 200, form: str = "") -> Any:
    """A field for a text of at most ``most`` characters, of a ``form`` of the formats."""
    schema: dict[str, Any] = {"type": ["string", "null"], "maxLength": most, "description": about}
    return _field(default, about, lambda value: check_text(value, most, form), schema)


def day(about: str) -> Any:
    """A field for a day of the calendar, kept as text."""
    schema = {"type": ["string", "null"], "format": "date", "description": about}
    return _field(None, about, check_day, schema)


def whole(about: str, default: int, *, least: int = 0, most: int) -> Any:
    """A field for a whole number."""
    schema = {"type": "integer", "minimum": least, "maximum": most, "description": about}
    return _field(default, about, lambda value: check_whole(value, least, most), schema)


def number(about: str, default: Decimal, *, most: Decimal, scale: int) -> Any:
    """A field for an exact number of 0 or more."""
    schema = {"type": "number", "minimum": 0, "maximum": float(most), "description": about}
    return _field(default, about, lambda value: check_number(value, most, scale), schema)


def flag(about: str, default: bool) -> Any:
    """A field for true or false."""
    return _field(default, about, check_flag, {"type": "boolean", "description": about})


def checked(about: str, make: Callable[[], Any], check: Check, schema: Mapping[str, Any]) -> Any:
    """A field with a check of its own; ``make`` gives the default."""
    metadata = {"check": check, "schema": {"description": about, **schema}}
    return field(default_factory=make, metadata=metadata)


def _field(default: Any, about: str, check: Check, schema: Mapping[str, Any]) -> Any:
    return field(default=default, metadata={"check": check, "schema": schema})


def check_text(value: Any, most: int, form: str = "") -> str | None:
    """Text without control characters; blank is None.

    Raises: BadValueError.
    """
    if not isinstance(value, str):
        raise BadValueError("must be text")
    stripped = value.strip()
    if len(stripped) > most:
        raise BadValueError(f"must have at most {most} characters")
    require_line(read_string(stripped))
    return (FORMATS[form](stripped) if form else stripped) if stripped else None


def check_day(value: Any) -> str:
    """A day as ISO 8601 writes it."""
    try:
        if isinstance(value, str) and date.fromisoformat(value).isoformat() == value:
            return value
    except ValueError:
        pass
    raise BadValueError("must be a date such as 2026-01-31")


def check_whole(value: Any, least: int, most: int) -> int:
    """A whole number from ``least`` to ``most``."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise BadValueError(f"must be a whole number from {least} to {most}")
    return value


def check_flag(value: Any) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise BadValueError("must be true or false")
    return value


def check_number(value: Any, most: Decimal, scale: int) -> Decimal:
    """An exact number from 0 to ``most``; text is taken too, so that nothing need be a float."""
    if isinstance(value, bool) or not isinstance(value, int | str | float | Decimal):
        raise BadValueError("must be a number")
    try:
        decimal = Decimal(repr(value) if isinstance(value, float) else value)
    except InvalidOperation:
        raise BadValueError("must be a number") from None
    if not decimal.is_finite() or not 0 <= decimal <= most:
        raise BadValueError(f"must be a number from 0 to {most}")
    exponent = decimal.as_tuple().exponent
    if isinstance(exponent, int) and -exponent > scale:
        raise BadValueError(f"must have at most {scale} decimals")
    return decimal


def check_members(value: Any, check: Callable[[str, Any], Any]) -> dict[str, Any]:
    """A JSON object whose members ``check`` takes, each with its name.

    Raises: BadValueError, it is no object; BadPartsError.
    """
    if not isinstance(value, Mapping):
        raise BadValueError("must be an object")
    checked, problems = {}, []
    for name, member in value.items():
        try:
            checked[name] = check(name, member)
        except BadPartsError as error:
            problems += [Detail(f"{name}.{part.field}", part.message) for part in error.problems]
        except BadValueError as error:
            problems.append(Detail(name, str(error)))
    if problems:
        raise BadPartsError(problems)
    return checked


def check_rate(code: str, value: Any) -> Decimal:
    """Units of the own currency for one of another: more than 0."""
    if FORMATS["currency"](code) != code:
        raise BadValueError("must be a currency code in capitals, such as USD")
    rate = check_number(value, _RATE_MAXIMUM, _RATE_SCALE)
    if not rate:
        raise BadValueError("must be more than 0")
    return rate


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

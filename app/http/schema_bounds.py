"""marshmallow's validators in the words of this service (imported as ``validate``), and of keys."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

from marshmallow import ValidationError, validate
from werkzeug.routing import IntegerConverter

from app.http.schema_fields import BadValueError

LARGEST_KEY = 2**63 - 1


def up_to(largest: int) -> str:
    """A regular expression of the whole numbers from 0 to ``largest`` (above 10), in plain digits.

    A number that is refused after it was found makes Werkzeug answer 405 where another rule of the
    same address was looked at before, and 404 where none was: so none is found.
    """
    digits = str(largest)
    choices = ["0", f"[1-9][0-9]{{0,{len(digits) - 2}}}"]
    for at, digit in enumerate(digits):
        below = range(int(at == 0), int(digit))
        if below:
            choices.append(f"{digits[:at]}[{below[0]}-{below[-1]}][0-9]{{{len(digits) - at - 1}}}")
    return "|".join([*choices, digits])


class RecordKey(IntegerConverter):
    """``<int:...>`` in plain digits, as it is written in answers; what no key can be is 404."""

    regex = up_to(LARGEST_KEY)


class OneOf(validate.OneOf):
    default_message = "must be one of {choices}"


class Range(validate.Range):
    message_min = "must be {{min}} or more"
    message_max = "must be {{max}} or less"
    message_all = "must be between {{min}} and {{max}}"


_UNSEEN = frozenset(("Cc", "Cf", "Zl", "Zp", "Zs"))


def is_blank(text: str) -> bool:
    """Whether nothing of a text is seen: it has spaces, controls and characters without width."""
    return all(unicodedata.category(character) in _UNSEEN for character in text)


# A text of at most so many characters is one line, which may have tabs, unless it is said to have
# several.
LONGEST_LINE = 255
LINE_REFUSED = "must be one line without control characters"
CONTROLS = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]+")


def require_line(text: str) -> None:
    """Refuse a text that is not one line.

    Raises: BadValueError.
    """
    if not text.isprintable() and CONTROLS.search(text):
        raise BadValueError(LINE_REFUSED)


class Length(validate.Length):
    """How long; a text that must have a character has one that is not blank.

    A text of at most ``LONGEST_LINE`` characters is one line, and a longer one may have several,
    unless ``lines`` says whether it may.
    """

    message_min = "must have a length of {min} or more"
    message_max = "must have a length of at most {max}"
    message_all = "must have a length between {min} and {max}"
    message_equal = "must have a length of {equal}"

    def __init__(self, *of: Any, lines: bool | None = None, **options: Any) -> None:
        super().__init__(*of, **options)
        is_short = self.max is not None and self.max <= LONGEST_LINE
        self._is_line = is_short if lines is None else not lines

    def __call__(self, value: Any) -> Any:
        if self.min and isinstance(value, str) and value and is_blank(value):
            raise ValidationError("must not be blank")
        checked = super().__call__(value)
        if self._is_line and isinstance(value, str) and not is_blank(value):
            require_line(value)
        return checked


# Of the key of a record.
RECORD_KEY = Range(1, LARGEST_KEY)


class Regexp(validate.Regexp):
    default_message = "must have another form"

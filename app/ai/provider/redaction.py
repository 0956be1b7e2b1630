"""What never leaves: addresses, numbers of telephones and of accounts, replaced by marks.

The same text has the same mark within an answer, so that the model can speak of it; the marks that
come back are replaced by the text again, here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import phonenumbers
from stdnum import iban

MARK = re.compile(r"<(EMAIL|PHONE|IBAN)_(\d{1,4})>")
_EMAIL = re.compile(r"[^\s@<>()\[\]\"',;:\\]{1,64}@[^\s@<>()\[\]\"',;:\\/]{1,253}\.[^\W\d_]{2,24}")
_IBAN = re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{2,4}){3,8}\b")
# Written as at home: 030 1234567; those with a country's code are found by the library.
_HOME_PHONE = re.compile(r"(?<![\d.,-])\(?0\d{1,5}\)?[ /-]\d[\d /-]{4,14}\d(?![\d.,]*\d)")


class Redactor:
    """The marks of one answer."""

    def __init__(self, kinds: Iterable[str]) -> None:
        self._kinds = frozenset(kinds)
        self._marks: dict[str, str] = {}
        self._texts: dict[str, str] = {}

    def hide(self, text: str) -> str:
        """``text`` with marks in place of what must not leave."""
        if "email" in self._kinds:
            text = _EMAIL.sub(lambda match: self._mark("EMAIL", match.group()), text)
        if "iban" in self._kinds:
            text = _IBAN.sub(self._iban, text)
        if "phone" in self._kinds:
            text = self._without_phones(text)
        return text

    def show(self, text: str) -> str:
        """``text`` with its marks replaced; one that was never given stays."""
        return MARK.sub(lambda match: self._texts.get(match.group(), match.group()), text)

    def _iban(self, match: re.Match[str]) -> str:
        # What follows an account may look like more of it: take the longest that is one.
        words = match.group().split(" ")
        for count in range(len(words), 0, -1):
            text = " ".join(words[:count])
            if iban.is_valid(text):
                rest = " ".join(words[count:])
                return self._mark("IBAN", text) + (f" {rest}" if rest else "")
        return match.group()

    def _without_phones(self, text: str) -> str:
        if "+" in text:
            for match in reversed(list(phonenumbers.PhoneNumberMatcher(text, None))):
                mark = self._mark("PHONE", match.raw_string)
                text = text[: match.start] + mark + text[match.end :]
        return _HOME_PHONE.sub(lambda match: self._mark("PHONE", match.group()), text)

    def _mark(self, kind: str, text: str) -> str:
        mark = self._marks.get(text)
        if mark is None:
            mark = f"<{kind}_{len(self._marks) + 1}>"
            self._marks[text] = mark
            self._texts[mark] = text
        return mark

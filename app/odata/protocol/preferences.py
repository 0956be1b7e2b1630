"""The ``Prefer`` header: what the client would like, and what the answer says it got.

A preference that is unknown or malformed is ignored, never an error (RFC 7240; Protocol 8.2.8).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from werkzeug.datastructures import Headers
from werkzeug.http import parse_list_header

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r'"([^"]*)"|[^\s",;]*')
# *, Namespace.* or Namespace.Term, each perhaps with a qualifier, and "-" to leave it out.
_NAME = r"[^\W\d]\w*"
_PART = rf"-?(?:\*|{_NAME}(?:\.{_NAME})*\.(?:\*|{_NAME}))(?:#{_NAME})?"
_FILTER = re.compile(rf"{_PART}(?:,{_PART})*")
_ROWS = re.compile("[0-9]{1,18}")
# What OData 4.0 spells with the prefix, 4.01 without; both are the same preference.
_PREFIX = "odata."


class Preference(NamedTuple):
    """One preference: the name as the client spelt it, and its value ("" when it has none)."""

    spelling: str
    value: str


@dataclass(frozen=True)
class Preferences:
    """The preferences of a request, by lower-case name without the ``odata.`` prefix."""

    by_name: Mapping[str, Preference] = field(default_factory=dict)

    @property
    def return_(self) -> str | None:
        """``minimal``, ``representation``, or None when the client does not mind."""
        return self._one_of("return", "minimal", "representation")

    @property
    def handling(self) -> str | None:
        """``strict``, ``lenient`` or None."""
        return self._one_of("handling", "strict", "lenient")

    @property
    def max_page_size(self) -> int | None:
        """Rows of a page, 1 or more."""
        value = self._value("maxpagesize")
        return int(value) or None if _ROWS.fullmatch(value) else None

    @property
    def omit_values(self) -> str | None:
        """``nulls`` or ``defaults``: properties that may be left out of the answer."""
        return self._one_of("omit-values", "nulls", "defaults")

    @property
    def include_annotations(self) -> str | None:
        """The filter of instance annotations, such as ``*`` or ``-*``; None without a valid one."""
        value = self._value("include-annotations")
        return value if _FILTER.fullmatch(value) else None

    def includes(self, namespace: str, alias: str, term: str) -> bool:
        """Whether annotations with a term are asked for: what names it most closely decides."""
        value = self.include_annotations
        included, closest = False, -1
        for part in value.split(",") if value else ():
            is_left_out = part.startswith("-")
            name, _, qualifier = part.removeprefix("-").partition("#")
            wholes = ("*", f"{namespace}.*", f"{alias}.*", f"{namespace}.{term}", f"{alias}.{term}")
            if qualifier or name not in wholes:
                continue
            closeness = (wholes.index(name) + 1) // 2
            if closeness > closest or is_left_out:
                included, closest = not is_left_out, max(closest, closeness)
        return included

    @property
    def track_changes(self) -> bool:
        """Whether a delta link is wanted."""
        return "track-changes" in self.by_name

    @property
    def respond_async(self) -> bool:
        """Whether the client would take 202 and come back."""
        return "respond-async" in self.by_name

    @property
    def continues_on_error(self) -> bool | None:
        """Whether a batch goes on after a request of it failed; None when nothing is said."""
        if "continue-on-error" not in self.by_name:
            return None
        return {"": True, "true": True, "false": False}.get(
            self._value("continue-on-error").lower()
        )

    def applied(self, name: str, value: str | int | None = None) -> str:
        """A preference as ``Preference-Applied`` repeats it, in the client's own spelling.

        Args:
            value: what was really applied, when that is not what was asked for.
        """
        spelling, wanted = self.by_name[name]
        text = wanted if value is None else str(value)
        if not text:
            return spelling
        return f'{spelling}="{text}"' if re.search(r'[\s",;]', text) else f"{spelling}={text}"

    def _value(self, name: str) -> str:
        value = self.by_name.get(name)
        return value.value if value else ""

    def _one_of(self, name: str, *values: str) -> str | None:
        if name not in self.by_name:
            return None
        value = self._value(name).lower()
        return value if value in values else None


NO_PREFERENCES = Preferences()


def showing_nulls(headers: Headers) -> Headers:
    """The headers of a request without ``omit-values``.

    What was changed must be shown, even if it is null now: in the answer to a PATCH or a PUT, and
    in a delta (Protocol 8.2.8.6).
    """
    preferences = preferences_of(headers)
    if "omit-values" not in preferences.by_name:
        return headers
    headers_shown = Headers(headers)
    headers_shown.remove("Prefer")
    if others := [
        preferences.applied(name) for name in preferences.by_name if name != "omit-values"
    ]:
        headers_shown["Prefer"] = ", ".join(others)
    return headers_shown


def preferences_of(headers: Headers) -> Preferences:
    # One header is a look into a dictionary; all of a name goes through every header.
    return parse_preferences(headers.getlist("Prefer")) if "Prefer" in headers else NO_PREFERENCES


def parse_preferences(headers: Iterable[str]) -> Preferences:
    """The preferences of all ``Prefer`` headers; of a repeated one the first counts."""
    return _parsed(tuple(headers))


@lru_cache(maxsize=256)
def _parsed(headers: tuple[str, ...]) -> Preferences:
    preferences: dict[str, Preference] = {}
    for header in headers:
        for item in parse_list_header(header):  # behind a semicolon are parameters
            spelling, _, text = item.partition(";")[0].partition("=")
            spelling, value = spelling.strip(), _VALUE.fullmatch(text.strip())
            if value is not None and _TOKEN.fullmatch(spelling):
                name = spelling.lower().removeprefix(_PREFIX)
                preferences.setdefault(name, Preference(spelling, value[1] or value[0].strip('"')))
    return Preferences(preferences) if preferences else NO_PREFERENCES


def note_applied(headers: Headers, applied: str) -> None:
    """Add a preference to those that an answer says were applied (``Preferences.applied``)."""
    before = headers.get("Preference-Applied")
    if before is None or applied not in before:
        headers["Preference-Applied"] = f"{before}, {applied}" if before else applied

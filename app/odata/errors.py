"""What a caller gets wrong in a query: one exception, with the place in the text."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager


class QueryError(ValueError):
    """The text of a query cannot be understood; the HTTP layer answers 400 ``INVALID_QUERY``.

    Args:
        message: what was expected or what is wrong, for the person who wrote the query.
        offset: 0-based index into the text of ``option`` (percent-decoded), at most its length;
            0 when no single character is to blame, None for a path of which none is.
        option: the system query option as the standard writes it (``$filter``), an alias (``@n``),
            an option that there is not as it was written, or None for the resource path.
    """

    def __init__(self, message: str, offset: int | None = None, option: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset
        self.option = option

    def in_option(self, option: str) -> QueryError:
        """This error, told which option it is about unless it already knows.

        Where no single character of it is to blame it points at the first one.
        """
        if self.option is None:
            self.option = option
            self.offset = self.offset or 0
        return self

    def __str__(self) -> str:
        position = "" if self.offset is None else f" at position {self.offset}"
        if self.option is None:
            return f"{self.message}{position}"
        return f"invalid {self.option}{position}: {self.message}"


class UnsupportedError(QueryError):
    """The query is well formed and the service does not offer what it asks; 501."""


@contextmanager
def option(name: str, *, is_nested: bool = False) -> Iterator[None]:
    """Tell errors which option they are about.

    Args:
        is_nested: the option stands in the text of another one, in which its positions are.
    """
    try:
        yield
    except QueryError as error:
        raise error if is_nested else error.in_option(name) from None


def suggestion(name: str, known: Iterable[str]) -> str:
    """``; did you mean 'x'?`` if one of ``known`` is much like ``name``, in whatever case."""
    names = {each.lower(): each for each in known}
    close = difflib.get_close_matches(name.lower(), names, n=1, cutoff=0.65)
    return f"; did you mean '{names[close[0]]}'?" if close else ""


def sentence(text: str) -> str:
    """``text`` with a full stop, unless it ends with a question already."""
    return text if text.endswith("?") else f"{text}."

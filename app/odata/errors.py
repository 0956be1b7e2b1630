"""What a caller gets wrong in a query: one exception, with the place in the text."""

from __future__ import annotations


class QueryError(ValueError):
    """The text of a query cannot be understood; the HTTP layer answers 400 ``INVALID_QUERY``.

    Args:
        message: what was expected or what is wrong, for the person who wrote the query.
        offset: 0-based index into the text of ``option`` (percent-decoded), at most its length;
            None when no single character is to blame.
        option: the system query option as the standard writes it (``$filter``), an alias (``@n``),
            or None for the resource path.
    """

    def __init__(self, message: str, offset: int | None = None, option: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset
        self.option = option

    def in_option(self, option: str) -> QueryError:
        """This error, told which option it is about unless it already knows."""
        if self.option is None:
            self.option = option
        return self

    def __str__(self) -> str:
        place = "" if self.offset is None else f" at position {self.offset}"
        if self.option is None:
            return f"{self.message}{place}"
        return f"invalid {self.option}{place}: {self.message}"


class UnsupportedError(QueryError):
    """The query is well formed and the service does not offer what it asks; 501."""

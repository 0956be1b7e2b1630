"""What the address of a list chooses: which rows, from which on, and the pages beside."""

from __future__ import annotations

from typing import Any, NamedTuple
from urllib.parse import urlencode

from flask import current_app, request

from app.console.language import translated
from app.console.numbers import amount_text
from app.errors import InvalidQueryError
from app.http.page_sizes import CONSOLE_CHOICES


class PageLinks(NamedTuple):
    """Where a page begins and ends; addresses of those before and after it, and the first."""

    first: int
    last: int
    total: int
    before: str | None
    after: str | None
    begin: str | None

    @property
    def range(self) -> str:
        """``51-100 of 3,000``, as the reader writes numbers."""
        first, last, total = map(amount_text, (self.first, self.last, self.total))
        return translated("%(rows)s of %(total)s", rows=f"{first}\u2013{last}", total=total)

    @property
    def whole(self) -> str:
        """``3,000``: all rows there are."""
        return amount_text(self.total)


def skipped() -> int:
    """How many rows the address leaves out.

    Raises: InvalidQueryError, it is no number.
    """
    text = request.args.get("skip", "0")
    if not text.isdecimal() or len(text) > 9:
        raise InvalidQueryError(translated("skip is a whole number."))
    return int(text)


def page_rows() -> int:
    rows: int = current_app.config["CONSOLE_PAGE_SIZE"]
    text = request.args.get("rows", "")
    return int(text) if text in map(str, CONSOLE_CHOICES) else rows


def page_asked() -> dict[str, int]:
    """Which rows the address asks for, as services take it."""
    return {"limit": page_rows(), "offset": skipped()}


def page_links(total: int) -> PageLinks:
    """The links of this page of a list of so many rows."""
    skip, size = skipped(), page_rows()
    last = min(skip + size, total)
    return PageLinks(
        first=skip + 1 if skip < total else 0,
        last=last if skip < total else 0,
        total=total,
        before=changed_link(skip=max(skip - size, 0)) if skip else None,
        after=changed_link(skip=skip + size) if skip + size < total else None,
        begin=changed_link(skip=0) if skip > size else None,
    )


def changed_link(**changes: Any) -> str:
    """This address with other parameters, several of a name as a list; what is empty or 0 is left
    out."""
    args: dict[str, Any] = {**request.args.to_dict(flat=False), **changes}
    parameters = {
        name: [text for each in values if (text := str(each)) not in ("", "0")]
        for name, value in args.items()
        for values in [value if isinstance(value, list) else [value]]
    }
    return "?" + urlencode(parameters, doseq=True)


def search_phrase(text: str) -> str | None:
    """Words as people type them, each a term of ``$search``; None where there is none."""
    words = [word.replace('"', "").replace("\\", "") for word in text.split()]
    return " ".join(f'"{word}"' for word in words if word) or None

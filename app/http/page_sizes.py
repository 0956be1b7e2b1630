"""How many items a page has, for each kind of list."""

from __future__ import annotations

from typing import NamedTuple


class PageSize(NamedTuple):
    """Items of a page unless the caller wishes otherwise, and the most that it can wish for."""

    default: int
    largest: int

    def of(self, wanted: int | None) -> int:
        """The items of a page for which ``wanted`` were asked, None for no wish."""
        return min(wanted or self.default, self.largest)


# Rows of an entity set; ODATA_PAGE_SIZE sets the default, ``Prefer: maxpagesize`` is the wish.
ODATA = PageSize(1000, 5000)
# Members of each expanded collection, at most.
EXPANDED = 1000
# Changes behind a delta link. Their keys are a condition of the query that shows them: fewer where
# a key has parts.
CHANGES, CHANGES_WITH_PARTED_KEYS = 100, 30

# Lists of the REST API.
LIST = PageSize(50, 200)
JOURNAL = PageSize(100, 1000)
RECORD_SEARCH = PageSize(20, 100)
ARTICLE_SEARCH = PageSize(10, 50)
SUGGESTIONS = PageSize(5, 50)
ANSWER = PageSize(100, 1000)  # rows of the answer to a question
REPORT = PageSize(1000, 5000)
TOOL = PageSize(10, 20)  # records that a tool of the assistant reads

# Rows of the console's lists (CONSOLE_PAGE_SIZE); those a reader can choose; of those that are
# shown whole, at most.
CONSOLE = 50
CONSOLE_CHOICES = (25, 50, 100)
CONSOLE_WHOLE = 500

"""What is wrong with a body, each problem with its path, so that one answer tells all."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping

from app.errors import MOST_DETAILS, Detail, ValidationError


class Problems:
    """The problems found in one body; ``path`` is in wire spelling: ``LineItems[2].quantity``.

    Args:
        most: so many are told.
    """

    def __init__(self, most: int = MOST_DETAILS) -> None:
        self.details: list[Detail] = []
        self._most = most

    def add(self, path: str, message: str) -> None:
        """Note a problem; the reading goes on."""
        if len(self.details) < self._most:
            self.details.append(Detail(path, message))

    def add_unknown(self, path: str, name: str, known: Iterable[str], owner: str) -> None:
        """Note that ``owner`` has no ``name``; the nearest name is looked for while it is told."""
        if len(self.details) < self._most:
            self.add(path, unknown_name(name, known, owner))

    def raise_any(self) -> None:
        """Refuse the body when something was found.

        Raises: ValidationError, with a detail for every problem.
        """
        if self.details:
            raise ValidationError(self.details)


def join_path(path: str, name: str) -> str:
    """``billingAddress`` and ``city`` -> ``billingAddress.city``."""
    return f"{path}.{name}" if path else name


def unknown_name(name: str, known: Iterable[str], owner: str) -> str:
    """The message for a name that ``owner`` does not have, with the nearest one that it has."""
    folded: Mapping[str, str] = {candidate.lower(): candidate for candidate in known}
    nearest = difflib.get_close_matches(name.lower(), folded, n=1, cutoff=0.6)
    hint = f"; did you mean {folded[nearest[0]]}?" if nearest else ""
    return f"is not a property of {owner}{hint}"

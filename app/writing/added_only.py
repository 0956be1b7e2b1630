"""Records that are added to another one and never changed or deleted: payments, comments."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from app.errors import Detail, InvalidStateError, ValidationError
from app.writing.rules import RowRules
from app.writing.validation import Problems, validate

Check = Callable[[Mapping[str, Any], Problems], None]


@dataclass(frozen=True, kw_only=True)
class AddedOnly:
    """The writes of a set of such records (``edm.Service``).

    ``parent`` is the attribute that names the other record; ``add`` takes its key and the values,
    ``right`` is what that needs. ``check`` finds what is wrong with values that are good each by
    itself.
    """

    rules: RowRules
    parent: str
    right: str
    add: Callable[..., int]
    no_change: Callable[[], InvalidStateError]
    no_deletion: Callable[[], InvalidStateError]
    check: Check | None = None

    def needed_rights(
        self, action: str, values: Mapping[str, Any] | None = None
    ) -> tuple[str, ...]:
        """The permission to add one."""
        return (self.right,)

    def problems(
        self,
        values: Mapping[str, Any],
        *,
        partial: bool,
        settled: Collection[str] = (),
        key: int | None = None,
    ) -> list[Detail]:
        """What is wrong with the values (see ``edm.Checking``)."""
        writable = {name: values[name] for name in self.rules.writable if name in values}
        return self.checked(writable, partial=partial)[1]

    def checked(
        self, values: Mapping[str, Any], *, partial: bool
    ) -> tuple[dict[str, Any], Problems]:
        """The values that may be written, and what is wrong with the others."""
        cleaned, problems = validate(self.rules, values, partial=partial)
        if self.check is not None:
            self.check(cleaned, problems)
        return cleaned, problems

    def create(self, values: Mapping[str, Any]) -> int:
        """Add a record to the one that ``parent`` names."""
        others = dict(values)
        if (key := others.pop(self.parent, None)) is None:
            raise ValidationError([(self.rules.wire(self.parent), "is required")])
        return self.add(key, **others)

    def update(self, key: int, changes: Mapping[str, Any], version: int | None = None) -> None:
        """Refused.

        Raises: InvalidStateError.
        """
        raise self.no_change()

    def delete(self, key: int, version: int | None = None) -> None:
        """Refused.

        Raises: InvalidStateError.
        """
        raise self.no_deletion()

"""Annotations as values, the same for both forms of ``$metadata`` (CSDL 4.01, chapter 14)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

CORE = "Org.OData.Core.V1"
CAPABILITIES = "Org.OData.Capabilities.V1"
VALIDATION = "Org.OData.Validation.V1"
MEASURES = "Org.OData.Measures.V1"
AGGREGATION = "Org.OData.Aggregation.V1"

# Namespace -> alias and the file that defines it.
VOCABULARIES: Mapping[str, tuple[str, str]] = {
    namespace: (
        namespace.split(".")[2],
        f"https://oasis-tcs.github.io/odata-vocabularies/vocabularies/{namespace}",
    )
    for namespace in (CORE, CAPABILITIES, VALIDATION, MEASURES, AGGREGATION)
}


@dataclass(frozen=True)
class EnumMembers:
    """Members of an enumeration type of a vocabulary; more than one where flags are combined."""

    type: str
    members: tuple[str, ...]


@dataclass(frozen=True)
class Path:
    """The value of a property of the instance."""

    path: str


class PropertyPath(Path):
    """A property itself, as a model element."""


class NavigationPropertyPath(PropertyPath):
    """A navigation property itself, as a model element."""


Expression: TypeAlias = (
    "bool | int | Decimal | str | EnumMembers | Path | Sequence[Expression]"
    " | Mapping[str, Expression]"
)


class Annotation(NamedTuple):
    """A term applied to a model element; ``term`` with its namespace (or alias).

    ``qualifier`` tells several annotations with one term apart. ``notes`` are annotations of the
    annotation itself: term -> value (CSDL 4.01, 14.2).
    """

    term: str
    value: Expression
    qualifier: str | None = None
    notes: Mapping[str, Expression] = MappingProxyType({})

    @property
    def qualified(self) -> str:
        """The term with its qualifier, as JSON names it."""
        return self.term if self.qualifier is None else f"{self.term}#{self.qualifier}"

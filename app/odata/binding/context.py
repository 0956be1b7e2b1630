"""What is the same all through one query."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from app.http.security import Caller
from app.odata.binding.budget import Budget
from app.odata.binding.parameters import Parameters
from app.odata.model import edm
from app.odata.syntax.nodes import Node
from app.odata.syntax.option_nodes import QueryOptions


@dataclass
class Context:
    """Who asks, with which model, parameters and limits; what was found out on the way."""

    container: edm.EntityContainer
    caller: Caller
    parameters: Parameters = field(default_factory=Parameters)
    aliases: Mapping[str, Node] = field(default_factory=dict)
    # Whether rows are found by the trigram index, so in no order of use.
    unordered: bool = False
    # Whether rows are multiplied, by ``$crossjoin`` or ``join``: so many get less time.
    multiplied: bool = False
    budget: Budget = field(default_factory=Budget)
    # The options of each expanded collection, for a link to what it does not show.
    expanded: list[QueryOptions] = field(default_factory=list)
    _opened: int = 0

    def next_name(self) -> str:
        """A name for one more alias of a table."""
        self._opened += 1
        return f"t{self._opened - 1}"

    @contextmanager
    def naming(self, aliases: Mapping[str, Node]) -> Iterator[None]:
        """Within it, aliases that stand beside the options of one item count before the others."""
        before = self.aliases
        self.aliases = {**before, **aliases}
        try:
            yield
        finally:
            self.aliases = before

    def may_read(self, type_: edm.EntityType) -> bool:
        """Whether the caller may read any entity of the type."""
        return type_.resource is None or f"{type_.resource}:read" in self.caller.rights

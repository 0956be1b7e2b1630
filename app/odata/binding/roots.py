"""``$root/...`` in an expression: what does not hang on the current instance."""

from __future__ import annotations

from sqlalchemy import bindparam, true

from app.odata.binding.context import Context
from app.odata.binding.protocol import Translating
from app.odata.binding.values import Row, Rows, Scope
from app.odata.errors import QueryError, suggestion
from app.odata.model import edm


def singleton_scope(context: Context, singleton: edm.Singleton, *, optional: bool = False) -> Scope:
    """The one row of a singleton; its key is looked up when the plan runs."""
    scope = Scope(context, singleton.type, optional=optional)
    (column,) = scope.key_columns()
    key = bindparam(f"run_singleton_{singleton.name}", type_=column.type, required=True)
    scope.conditions.append(column == key)
    return scope


def entity_set(container: edm.EntityContainer, name: str) -> edm.EntitySet | None:
    """The entity set of this name, in any case."""
    return container.sets.get(container.folded_sets.get(name.lower(), name))


def of_root(translator: Translating, name: str, offset: int) -> Row | Rows:
    """``$root/Clients`` or ``$root/Me``: all entities of a set, or the one of a singleton.

    Raises: QueryError, there is neither; ForbiddenError, it may not be read.
    """
    container = translator.context.container
    if singleton := container.singletons.get(name):
        scope = singleton_scope(translator.context, singleton, optional=True)
        return Row(translator.it.attach(f"$root/{name}", scope, true()))
    target_set = entity_set(container, name)
    if target_set is None:
        hint = suggestion(name, [*container.sets, *container.singletons])
        raise QueryError(f"there is no entity set '{name}'{hint}", offset)
    everything = edm.NavigationProperty(
        name=f"$root/{target_set.name}",
        target=target_set.type.name,
        collection=True,
        join=lambda source, target: true(),
    )
    return Rows(translator.it, everything)

"""How types and members are written in ``$metadata``, in either form."""

from __future__ import annotations

from collections.abc import Iterator

from app.odata.model import edm


def element_name(
    container: edm.EntityContainer, type_: edm.EdmType | edm.EntityType | edm.TypeDefinition
) -> str:
    """The name of a type, of a collection the name of what it holds."""
    if isinstance(type_, edm.CollectionType):
        type_ = type_.element
    if isinstance(type_, edm.PrimitiveType):
        return type_.name
    return f"{container.namespace}.{type_.name}"


def referential_constraint(
    container: edm.EntityContainer, type_: edm.EntityType, nav: edm.NavigationProperty
) -> tuple[str, str] | None:
    """``("clientId", "id")``: the property that holds the key of the related entity."""
    if nav.collection or nav.foreign_key is None:
        return None
    dependent = type_.by_attribute.get(nav.foreign_key)
    target = container.target(nav)
    if dependent is None or len(target.key) != 1:
        return None
    return dependent.name, target.key[0]


def bindings(container: edm.EntityContainer, type_: edm.EntityType) -> dict[str, str]:
    """Path of a navigation property -> set that holds its entities.

    A path goes through contained types, each once: a cycle of them has no end.
    """
    return dict(_bindings(container, type_, "", frozenset()))


def _bindings(
    container: edm.EntityContainer, type_: edm.EntityType, prefix: str, seen: frozenset[str]
) -> Iterator[tuple[str, str]]:
    for nav in type_.navigation.values():
        if not nav.contained:
            if nav.target in container.set_of_type:
                yield f"{prefix}{nav.name}", container.set_of_type[nav.target].name
        elif nav.target not in seen:
            yield from _bindings(
                container, container.target(nav), f"{prefix}{nav.name}/", seen | {nav.target}
            )


def set_of_result(container: edm.EntityContainer, operation: edm.Operation) -> str | None:
    """The set that the entities of an imported operation's result lie in."""
    if isinstance(operation.returns, edm.EntityType):
        set_name = container.set_of_type.get(operation.returns.name)
        return set_name.name if set_name else None
    return None


def imports(container: edm.EntityContainer) -> Iterator[edm.Operation]:
    """The operations of the container itself; of overloads the first."""
    seen = set()
    for operation in container.operations:
        if operation.import_name and operation.import_name not in seen:
            seen.add(operation.import_name)
            yield operation


def is_listed(container: edm.EntityContainer, operation: edm.Operation) -> bool:
    """Whether an import is in the service document: a function that can be called by name alone."""
    return not operation.is_action and any(
        all(parameter.optional for parameter in overload.parameters)
        for overload in container.operations
        if overload.import_name == operation.import_name and not overload.bound_to
    )


def may_be_null(parameter: edm.Parameter) -> bool:
    """Whether null may be given; for a parameter that may be left out it means that.

    SAP CAP gives null to what may be left out, and refuses a model where that cannot be null.
    """
    return parameter.nullable or parameter.optional


def result_path(operation: edm.Operation) -> str | None:
    """Where the entities lie that a bound operation returns: ``binding/Payments``."""
    if not operation.bound_to or operation.result_path is None:
        return None
    return "/".join(part for part in (BINDING_PARAMETER, operation.result_path) if part)


BINDING_PARAMETER = "binding"

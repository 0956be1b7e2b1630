"""``$metadata`` as CSDL XML (OData CSDL XML Representation 4.01)."""

from __future__ import annotations

from collections.abc import Iterator

from app.odata.csdl import annotations as notes
from app.odata.csdl.json_form import default_value
from app.odata.csdl.names import (
    BINDING_PARAMETER,
    bindings,
    element_name,
    imports,
    is_listed,
    may_be_null,
    own_navigation,
    own_properties,
    referential_constraint,
    result_path,
    set_of_result,
)
from app.odata.csdl.terms import VOCABULARIES
from app.odata.csdl.xml_elements import annotation_tags, element, empty_tag, open_tag
from app.odata.model import edm


def csdl_xml(container: edm.EntityContainer, version: str) -> str:
    """The whole model; ``version`` is 4.0 or 4.01."""
    lines = [
        '<?xml version="1.0" encoding="utf-8"?>',
        f'<edmx:Edmx Version="{version}" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx">',
    ]
    for namespace, (alias, uri) in VOCABULARIES.items():
        lines += [
            f'<edmx:Reference Uri="{uri}.xml">',
            # In single quotes: some clients take the first Namespace="..." for the model's own.
            f"<edmx:Include Namespace='{namespace}' Alias='{alias}'/>",
            "</edmx:Reference>",
        ]
    lines += ["<edmx:DataServices>", *_Writer(container).schema(), "</edmx:DataServices>"]
    return "\n".join([*lines, "</edmx:Edmx>", ""])


class _Writer:
    """Writes the elements of one model, line by line."""

    def __init__(self, container: edm.EntityContainer) -> None:
        self._container = container

    def schema(self) -> Iterator[str]:
        container = self._container
        yield open_tag(
            "Schema",
            Namespace=container.namespace,
            xmlns="http://docs.oasis-open.org/odata/ns/edm",
        )
        for enum in container.enum_types.values():
            yield from self._enum(enum)
        for definition in container.type_definitions.values():
            yield from element(
                "TypeDefinition",
                annotation_tags(notes.of_type(definition)),
                Name=definition.name,
                UnderlyingType=definition.underlying.name,
            )
        for complex_type in container.complex_types.values():
            yield from self._complex(complex_type)
        for type_ in container.types.values():
            yield from self._entity_type(type_)
        for operation in container.operations:
            yield from self._operation(operation)
        yield from self._entity_container()
        yield from annotation_tags(notes.of_schema(container))
        yield "</Schema>"

    def _enum(self, enum: edm.EnumType) -> Iterator[str]:
        members = [empty_tag("Member", Name=name, Value=at) for name, at in enum.members.items()]
        yield from element(
            "EnumType",
            [*annotation_tags(notes.of_type(enum)), *members],
            Name=enum.name,
            UnderlyingType=enum.underlying if enum.underlying != "Edm.Int32" else None,
            IsFlags=enum.is_flags or None,
        )

    def _complex(self, type_: edm.ComplexType) -> Iterator[str]:
        yield from element(
            "ComplexType",
            [*self._properties(type_), *annotation_tags(notes.of_type(type_))],
            Name=type_.name,
            BaseType=self._name(type_.base) if type_.base else None,
            OpenType=type_.is_open or None,
        )

    def _entity_type(self, type_: edm.EntityType) -> Iterator[str]:
        yield open_tag(
            "EntityType",
            Name=type_.name,
            BaseType=self._name(type_.base) if type_.base else None,
            Abstract=type_.is_abstract or None,
            OpenType=type_.is_open or None,
            HasStream=type_.has_stream or None,
        )
        if type_.base is None:
            yield from element("Key", [empty_tag("PropertyRef", Name=name) for name in type_.key])
        yield from self._properties(type_)
        for nav in own_navigation(type_).values():
            yield from self._navigation(type_, nav)
        yield from annotation_tags(notes.of_type(type_))
        yield "</EntityType>"

    def _properties(self, type_: edm.EntityType | edm.ComplexType) -> Iterator[str]:
        keys = type_.key if isinstance(type_, edm.EntityType) else ()
        for prop in own_properties(type_).values():
            # Of a collection it is said that no member is null.
            is_collection = isinstance(prop.type, edm.CollectionType)
            required = not prop.nullable or prop.name in keys or is_collection
            yield from element(
                "Property",
                annotation_tags(notes.of_property(prop, is_key=prop.name in keys)),
                Name=prop.name,
                Type=self._type(prop.definition or prop.type),
                Nullable=False if required else None,
                MaxLength=prop.max_length,
                Precision=prop.precision,
                Scale=prop.scale,
                DefaultValue=default_value(prop),
            )

    def _navigation(self, type_: edm.EntityType, nav: edm.NavigationProperty) -> Iterator[str]:
        name = f"{self._container.namespace}.{nav.target}"
        constraint = referential_constraint(self._container, type_, nav)
        children = []
        if constraint:
            dependent, principal = constraint
            children.append(
                empty_tag("ReferentialConstraint", Property=dependent, ReferencedProperty=principal)
            )
        yield from element(
            "NavigationProperty",
            [*children, *annotation_tags(notes.of_navigation(self._container, nav))],
            Name=nav.name,
            Type=f"Collection({name})" if nav.collection else name,
            Nullable=False if not nav.nullable and not nav.collection else None,
            Partner=nav.partner,
            ContainsTarget=nav.contained or None,
        )

    def _operation(self, operation: edm.Operation) -> Iterator[str]:
        children = []
        if operation.bound_to:
            bound = f"{self._container.namespace}.{operation.bound_to}"
            children.append(
                empty_tag(
                    "Parameter",
                    Name=BINDING_PARAMETER,
                    Type=f"Collection({bound})" if operation.bound_to_collection else bound,
                    Nullable=False,
                )
            )
        for parameter in operation.parameters:
            children += element(
                "Parameter",
                annotation_tags(notes.of_parameter(parameter)),
                Name=parameter.name,
                Type=self._type(parameter.type),
                Nullable=None if may_be_null(parameter) else False,
            )
        if operation.returns is not None:
            result = self._type(operation.returns)
            if operation.returns_collection:
                result = f"Collection({result})"
            children.append(empty_tag("ReturnType", Type=result, Nullable=False))
        yield from element(
            "Action" if operation.is_action else "Function",
            [*children, *annotation_tags(notes.of_operation(operation))],
            Name=operation.name,
            IsBound=True if operation.bound_to else None,
            IsComposable=operation.composable or None,
            EntitySetPath=result_path(operation),
        )

    def _entity_container(self) -> Iterator[str]:
        container = self._container
        yield open_tag("EntityContainer", Name=container.name)
        yield from annotation_tags(notes.of_container(container))
        for entity_set in container.sets.values():
            yield from element(
                "EntitySet",
                [
                    *self._bindings(entity_set.type),
                    *annotation_tags(notes.of_set(container, entity_set)),
                ],
                Name=entity_set.name,
                EntityType=self._name(entity_set.type),
            )
        for singleton in container.singletons.values():
            yield from element(
                "Singleton",
                self._bindings(singleton.type),
                Name=singleton.name,
                Type=self._name(singleton.type),
            )
        for operation in imports(container):
            kind = "Action" if operation.is_action else "Function"
            yield empty_tag(
                f"{kind}Import",
                Name=operation.import_name,
                **{kind: f"{container.namespace}.{operation.name}"},
                EntitySet=set_of_result(container, operation),
                IncludeInServiceDocument=is_listed(container, operation) or None,
            )
        yield "</EntityContainer>"

    def _bindings(self, type_: edm.EntityType) -> list[str]:
        return [
            empty_tag("NavigationPropertyBinding", Path=path, Target=target)
            for path, target in bindings(self._container, type_).items()
        ]

    def _type(self, type_: edm.EdmType | edm.EntityType | edm.TypeDefinition) -> str:
        name = element_name(self._container, type_)
        return f"Collection({name})" if isinstance(type_, edm.CollectionType) else name

    def _name(self, type_: edm.EntityType | edm.ComplexType) -> str:
        return element_name(self._container, type_)

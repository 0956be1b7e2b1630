"""What can be done with each set, in the terms of the Capabilities vocabulary.

A client builds its screens from this: each statement is held by a test that tries it.
"""

from __future__ import annotations

from collections.abc import Iterator

from app.odata.binding.aggregates import custom_methods
from app.odata.csdl.terms import (
    AGGREGATION,
    CAPABILITIES,
    Annotation,
    Expression,
    NavigationPropertyPath,
    PropertyPath,
)
from app.odata.functions import FUNCTIONS, OWN_SYNTAX
from app.odata.model import edm
from app.odata.model.writable import is_insertable, upsert_keys
from app.odata.syntax.apply_parser import OFFERED

SUPPORTED_FORMATS = ("application/json",)
METADATA_FORMATS = ("application/xml", "application/json")
BATCHES: dict[str, Expression] = {
    "Supported": True,
    "ContinueOnErrorSupported": True,
    "ReferencesInRequestBodiesSupported": True,
    "ReferencesAcrossChangeSetsSupported": True,
    "EtagReferencesSupported": True,
    "RequestDependencyConditionsSupported": True,
    "SupportedFormats": ["multipart/mixed", "application/json"],
}
RETURNED = {"ExpandSupported": True, "SelectSupported": True}


def of_container(container: edm.EntityContainer) -> Iterator[Annotation]:
    yield _term("SupportedFormats", list(SUPPORTED_FORMATS))
    yield _term("SupportedMetadataFormats", list(METADATA_FORMATS))
    # Beyond the operators (URL Conventions 5.1.1.5 to 5.1.1.11).
    offered = [name for name, function in FUNCTIONS.items() if function.is_offered]
    yield _term("FilterFunctions", [*offered, *OWN_SYNTAX])
    yield _term("KeyAsSegmentSupported", True)
    yield _term("QuerySegmentSupported", True)
    yield _term("CrossJoinSupported", True)
    yield _term("AsynchronousRequestsSupported", container.answers_later)
    yield _term("BatchSupport", BATCHES)
    apply: dict[str, Expression] = {
        "Transformations": list(OFFERED),
        "CustomAggregationMethods": list(custom_methods(container)),
    }
    yield Annotation(f"{AGGREGATION}.ApplySupportedDefaults", apply)


def of_set(container: edm.EntityContainer, entity_set: edm.EntitySet) -> Iterator[Annotation]:
    type_ = entity_set.type
    writable = entity_set.service is not None
    insertable = writable and entity_set.insertable
    updatable = writable and entity_set.updatable
    yield _term("TopSupported", True)
    yield _term("SkipSupported", True)
    yield _term("IndexableByKey", True)
    yield _term("CountRestrictions", {"Countable": True})
    yield _term("ComputeSupported", True)
    yield _term("SelectSupport", {"Supported": True})
    unknown = _without_expression(type_)
    yield _term("FilterRestrictions", _excepting("Filterable", "NonFilterableProperties", unknown))
    unsortable = [*unknown, *_structured(type_)]
    yield _term("SortRestrictions", _excepting("Sortable", "NonSortableProperties", unsortable))
    yield _term("ExpandRestrictions", {"Expandable": True, "MaxLevels": container.expand_levels})
    searchable = any(prop.searchable for prop in type_.properties.values())
    yield _term("SearchRestrictions", {"Searchable": searchable})
    yield _term("InsertRestrictions", _insertion(container, entity_set, insertable))
    yield _term("DeepInsertSupport", {"Supported": insertable})
    yield _term("UpdateRestrictions", _change(entity_set, updatable, insertable))
    yield _term("DeepUpdateSupport", {"Supported": updatable})
    yield _term("ChangeTracking", {"Supported": type_.changes is not None})
    deletable = writable and entity_set.deletable
    deletion: dict[str, Expression] = {"Deletable": deletable}
    if deletable:
        deletion["FilterSegmentSupported"] = True
    yield _term("DeleteRestrictions", deletion)


def _term(name: str, value: Expression) -> Annotation:
    return Annotation(f"{CAPABILITIES}.{name}", value)


def _without_expression(type_: edm.EntityType) -> list[str]:
    """The properties of which no expression can be made."""
    return [
        prop.name
        for prop in type_.properties.values()
        if prop.type in (edm.UNTYPED, edm.STREAM) or prop.on_request
    ]


def _structured(type_: edm.EntityType) -> list[str]:
    """The properties that have no order, because they have parts."""
    parted = (edm.ComplexType, edm.CollectionType)
    return [prop.name for prop in type_.properties.values() if isinstance(prop.type, parted)]


def _excepting(able: str, names: str, excepted: list[str]) -> dict[str, Expression]:
    """A record that says yes, with exceptions."""
    record: dict[str, Expression] = {able: True}
    return {**record, names: [PropertyPath(name) for name in excepted]} if excepted else record


def _insertion(
    container: edm.EntityContainer, entity_set: edm.EntitySet, insertable: bool
) -> dict[str, Expression]:
    record: dict[str, Expression] = {"Insertable": insertable}
    if insertable:
        closed: list[Expression] = [
            NavigationPropertyPath(nav.name)
            for nav in entity_set.type.navigation.values()
            if not is_insertable(container, entity_set, nav)
        ]
        if closed:
            record["NonInsertableNavigationProperties"] = closed
        record["QueryOptions"] = RETURNED
    return record


def _change(entity_set: edm.EntitySet, updatable: bool, insertable: bool) -> dict[str, Expression]:
    record: dict[str, Expression] = {"Updatable": updatable}
    if updatable:
        record["Upsertable"] = insertable and bool(upsert_keys(entity_set.type))
        record["DeltaUpdateSupported"] = insertable and entity_set.takes_deltas
        record["FilterSegmentSupported"] = True
        record["QueryOptions"] = RETURNED
    return record

"""Which record ``{module, entityId}`` means, read as the caller."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.ai.parts import Citation, Context, RecordContext
from app.container import engine
from app.container.model import container, title_of
from app.errors import ForbiddenError, NotFoundError, ValidationError
from app.events import entity_url
from app.odata.model import edm

# Words for an area of the service that are no name of a type or set, and the records they mean.
AREAS: Mapping[str, str] = {
    "crm": "Client", "sales": "Opportunity", "pipeline": "Opportunity", "support": "Ticket",
    "helpdesk": "Ticket", "invoicing": "Invoice", "billing": "Invoice", "kb": "KbArticle",
    "knowledge": "KbArticle", "articles": "KbArticle", "article": "KbArticle",
}  # fmt: skip
# Areas without records of their own: what is asked there is about no record.
OTHERS = frozenset(("bi", "reports", "dashboard", "home", "general", "webhooks", "admin"))


def read_context(body: Mapping[str, Any] | None) -> Context | None:
    """The record that the caller looks at, or None.

    Args:
        wanted: ``{"module": "clients", "entityId": 7}``; the module is the name of a type, of a
            set or of an area, in any case.
    Raises: ValidationError, no such module; NotFoundError, no such record for the caller.
    """
    if not body:
        return None
    module = body["module"]
    entity = _entity_of(module)
    key = body.get("entityId")
    if key is None:
        return Context(module)
    if entity is None:
        raise ValidationError([("context.entityId", f"{module} has no records")])
    home = container().set_of_type[entity].name
    try:
        row = engine.read_one(f"{home}({key})", select=f"id,{title_of(entity)}")
    except (ForbiddenError, NotFoundError):
        details = [("context.entityId", "is no record that you can read")]
        raise NotFoundError(f"There is no {entity} {key}.", details) from None
    return RecordContext(module, entity, home, key, name_of(entity, row))


def name_of(entity: str, row: Mapping[str, Any]) -> str:
    """What a record is called that was read with its title: ``Invoice 7`` of one without."""
    return str(row.get(title_of(entity)) or f"{entity} {row['id']}")


def continued_context(stored: Mapping[str, Any] | None) -> Context | None:
    """The record that a conversation was about, while the caller may still read it."""
    try:
        return read_context(stored)
    except NotFoundError:
        return None


def citation_of(record: RecordContext, snippet: str = "") -> Citation:
    return cited(record.entity, record.key, record.title, snippet)


def cited(entity: str, key: int, title: str, snippet: str = "") -> Citation:
    """A record of a type as a source."""
    return Citation(entity, key, title, entity_url(entity, key), snippet)


def entity_type(entity: str) -> edm.EntityType:
    type_: edm.EntityType = container().types[entity]
    return type_


def states_of(entity: str, name: str) -> tuple[str, ...]:
    """The values that a stage or status may have; none where there is no such property."""
    prop: Any = entity_type(entity).properties.get(name)
    column = None if prop is None else entity_type(entity).table.c.get(prop.attribute)
    return tuple(column.info.get("allowed", ())) if column is not None else ()


def data_sets() -> dict[str, edm.EntitySet]:
    """The sets of business records, by their names in lower case."""
    return {
        name.lower(): entity_set
        for name, entity_set in container().sets.items()
        if entity_set.service is not None
    }


def _entity_of(module: str) -> str | None:
    word = module.strip().lower()
    names = {}
    for name, entity_set in data_sets().items():
        names[name] = names[entity_set.type.name.lower()] = entity_set.type.name
    entity = names.get(word) or AREAS.get(word)
    if entity is None and word not in OTHERS:
        choices = ", ".join(sorted({*names, *AREAS, *OTHERS}))
        raise ValidationError([("context.module", f"must be one of {choices}")])
    return entity

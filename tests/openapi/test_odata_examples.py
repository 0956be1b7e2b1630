"""Examples of entities have what a creation needs, and nothing that it may not have."""

from __future__ import annotations

from flask import Flask

from app.container.model import container
from app.openapi.odata_examples import change, creation
from app.openapi.odata_schemas import is_writable


def test_a_creation_has_what_is_required_and_only_what_may_be_written(app: Flask) -> None:
    for entity_set in container().set_of_type.values():
        type_ = entity_set.type
        body = creation(container(), type_)
        own = {name: prop for name, prop in type_.properties.items() if is_writable(type_, prop)}
        required = {name for name, prop in own.items() if prop.required}
        assert required <= set(body), type_.name
        assert {name for name in body if name in type_.properties} <= set(own), type_.name
        assert set(change(container(), type_)) <= set(body), type_.name

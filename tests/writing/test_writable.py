"""What a body may set is what the metadata does not call computed, of every entity."""

from __future__ import annotations

import pytest

from app.container.model import container
from app.writing.services import SERVICES


@pytest.mark.parametrize("entity", SERVICES)
def test_a_column_is_writable_where_its_property_is(entity: str) -> None:
    properties = container().set_of_type[entity].type.properties.values()
    offered = {
        column
        for shown_property in properties
        if not shown_property.computed
        for column in (shown_property.columns or {"": shown_property.attribute}).values()
    }
    assert set(SERVICES[entity].rules.all_writable) == offered

"""Names on the wire are those of attributes in another spelling."""

from __future__ import annotations

import pytest

from app.container.model import container
from app.odata.names import camel, snake


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("LineItems", "line_items"),
        ("name", "name"),
        ("KbArticles", "kb_articles"),
        ("ID", "id"),
        ("EInvoice", "e_invoice"),
        ("taxId", "tax_id"),
    ],
)
def test_snake(name: str, expected: str) -> None:
    assert snake(name) == expected


def test_camel_is_what_snake_takes_back() -> None:
    names = {
        name
        for type_ in container().types.values()
        for name, member in type_.properties.items()
        if member.attribute == snake(name)
    }
    assert len(names) > 100
    assert {camel(snake(name)) for name in names} == names

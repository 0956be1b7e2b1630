"""URLs of entities, relative to the service root, as pieces of SQL text."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import ColumnElement, Text

from app.odata.binding.values import Scope, family
from app.odata.model import edm
from app.odata.sql.dialect_sql import Part, spell


def entity_address(scope: Scope, collection: str) -> list[Part]:
    """``Clients(1)``, ``Translations(bookId=1,language='de')``."""
    type_ = scope.type
    pieces: list[Part] = [collection, "("]
    for index, (name, column) in enumerate(zip(type_.key, scope.key_columns(), strict=True)):
        if len(type_.key) > 1:
            pieces.append(f"{',' if index else ''}{name}=")
        is_text = family(type_.properties[name].type) == "text"
        pieces += ["'", _escaped(column), "'"] if is_text else [column]
    return [*pieces, ")"]


def related_address(
    container: edm.EntityContainer,
    scope: Scope,
    navigation: edm.NavigationProperty,
    owner: Sequence[Part],
) -> list[Part]:
    """The address in the set of the related entity; of one without a set, through its owner."""
    home = container.set_of_type.get(scope.type.name)
    if home is not None:
        return entity_address(scope, home.name)
    if navigation.collection:
        return [*owner, "/", *entity_address(scope, navigation.name)]
    return [*owner, "/", navigation.name]


def _escaped(column: ColumnElement[str]) -> ColumnElement[str]:
    """A text as a literal inside a URL inside JSON; the commonest reserved characters encoded."""
    template = "{0}"
    for character, code in (("%", "%25"), ("'", "''"), ('"', "%22"), ("\\", "%5C"), ("/", "%2F"),
                            ("?", "%3F"), ("#", "%23"), (" ", "%20")):  # fmt: skip
        template = f"replace({template}, {_quoted(character)}, {_quoted(code)})"
    return spell(Text(), template, column)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"

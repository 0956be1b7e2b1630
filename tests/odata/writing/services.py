"""Services of the bookshop: they write rows, and refuse what a real service would refuse."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import RowMapping, Table, delete, insert, select, update

from app.db import records
from app.errors import (
    Detail,
    DuplicateError,
    NotFoundError,
    PreconditionFailedError,
    ValidationError,
)
from tests.odata.bookshop import book_genres, chapters, translations


class TableService:
    """Writes rows of a table; ``owned`` names the attribute of a list kept in another table."""

    def __init__(self, table: Table, required: str, owned: tuple[str, Table] | None = None) -> None:
        self.table = table
        self.required = required
        self.owned = owned
        self.calls: list[tuple[str, Any]] = []

    def create(self, values: dict[str, Any]) -> Any:
        self.calls.append(("create", values))
        if not values.get(self.required):
            raise ValidationError([(self.required, "is required")])
        items = self._pop_items(values)
        key = records.insert(self.table, {"version": 1, **values})
        self._write_items(key, items)
        return key

    def update(self, key: Any, changes: dict[str, Any], version: int | None = None) -> None:
        self.calls.append(("update", changes))
        row = self._row(key)
        if version is not None and row["version"] != version:
            raise PreconditionFailedError("It has another version.")
        if self.required in changes and not changes[self.required]:
            raise ValidationError([(self.required, "must not be null")])
        items = self._pop_items(changes)
        records.update(self.table, key, {**changes, "version": row["version"] + 1})
        self._write_items(key, items)

    def delete(self, key: Any, version: int | None = None) -> None:
        self.calls.append(("delete", key))
        row = self._row(key)
        if version is not None and row["version"] != version:
            raise PreconditionFailedError("It has another version.")
        records.delete(self.table, key)

    def _row(self, key: Any) -> RowMapping:
        statement = select(self.table).where(self.table.c.id == key)
        row = records.connection().execute(statement).mappings().first()
        if row is None:
            raise NotFoundError(f"There is no {self.table.name} {key}.")
        return row

    def _pop_items(self, values: dict[str, Any]) -> list[dict[str, Any]] | None:
        if self.owned is None or self.owned[0] not in values:
            return None
        items: list[dict[str, Any]] = values.pop(self.owned[0])
        problems = [
            Detail(f"{self.owned[0]}[{place}].heading", "is required")
            for place, item in enumerate(items)
            if not item.get("heading")
        ]
        if problems:
            raise ValidationError(problems)
        return items

    def _write_items(self, key: Any, items: list[dict[str, Any]] | None) -> None:
        if items is None:
            return
        connection = records.connection()
        connection.execute(delete(chapters).where(chapters.c.book_id == key))
        for place, item in enumerate(items, start=1):
            connection.execute(insert(chapters).values({"position": place, **item, "book_id": key}))


class BookService(TableService):
    """Books have genres through a link table."""

    def link(self, key: Any, navigation: str, target: Any) -> None:
        assert navigation == "Genres"
        records.connection().execute(insert(book_genres).values(book_id=key, genre_id=target))

    def unlink(self, key: Any, navigation: str, target: Any) -> None:
        columns = book_genres.c
        records.connection().execute(
            delete(book_genres).where(columns.book_id == key, columns.genre_id == target)
        )

    def create_media(self, content: Iterable[bytes], content_type: str, name: str | None) -> Any:
        raise NotImplementedError


class TranslationService:
    """Rows whose key the client gives: book and language."""

    def create(self, values: dict[str, Any]) -> Any:
        key = (values["book_id"], values["language"])
        if self._row(key) is not None:
            raise DuplicateError("There is such a translation.")
        records.connection().execute(insert(translations).values(values))
        return key

    def update(self, key: Any, changes: dict[str, Any], version: int | None = None) -> None:
        if self._row(key) is None:
            raise NotFoundError("There is no such translation.")
        if changes:
            records.connection().execute(update(translations).where(*self._is(key)).values(changes))

    def delete(self, key: Any, version: int | None = None) -> None:
        if self._row(key) is None:
            raise NotFoundError("There is no such translation.")
        records.connection().execute(delete(translations).where(*self._is(key)))

    def _row(self, key: Any) -> Any:
        return records.connection().execute(select(translations).where(*self._is(key))).first()

    @staticmethod
    def _is(key: Any) -> tuple[Any, Any]:
        return translations.c.book_id == key[0], translations.c.language == key[1]

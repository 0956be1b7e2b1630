"""The services of the reference model: rows checked against their types, then written."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from flask import Response
from sqlalchemy import Table, delete, insert, select, update
from sqlalchemy.exc import IntegrityError
from werkzeug.datastructures import Headers

from app.clock import utc_now
from app.db import records
from app.errors import (
    Detail,
    DuplicateError,
    NotFoundError,
    PreconditionFailedError,
    ValidationError,
)
from app.odata.model import edm
from tests.reference import tables as t


class TableService:
    """Writes the rows of one table; ``stamped`` are columns that hold the time of a change."""

    def __init__(self, type_: edm.EntityType, stamped: tuple[str, ...] = ()) -> None:
        self.type = type_
        table = type_.table
        assert isinstance(table, Table)
        self.table = table
        self.stamped = stamped

    def create(self, values: dict[str, Any]) -> Any:
        self._check(values, creating=True)
        row = dict(values)
        if "id" in self.table.c:
            row["id"] = t.new_guid()
        for name in ("created_at", "modified_at", "updated_at", "changed_at"):
            if name in self.table.c:
                row.setdefault(name, utc_now())
        self._run(insert(self.table).values(row))
        parts = tuple(row[column.name] for column in self.table.primary_key)
        return parts[0] if len(parts) == 1 else parts

    def update(self, key: Any, changes: dict[str, Any], version: int | None = None) -> None:
        self._check(changes, creating=False)
        self._refuse_other(key, version)
        changed = {**changes, **dict.fromkeys(self.stamped, utc_now())}
        if "version" in self.table.c:
            changed["version"] = self.table.c.version + 1
        if changed:
            self._run(update(self.table).where(*self._is(key)).values(changed))

    def delete(self, key: Any, version: int | None = None) -> None:
        self._refuse_other(key, version)
        self._run(delete(self.table).where(*self._is(key)))

    def row(self, key: Any) -> Any:
        """The row with this key.

        Raises: NotFoundError.
        """
        found = self._run(select(self.table).where(*self._is(key))).mappings().first()
        if found is None:
            raise NotFoundError(f"This {self.type.name} does not exist.")
        return found

    def _refuse_other(self, key: Any, version: int | None) -> None:
        row = self.row(key)
        if version is not None and row["version"] != version:
            raise PreconditionFailedError("It was changed meanwhile.")

    def _check(self, values: dict[str, Any], *, creating: bool) -> None:
        """Required properties, lengths and ranges."""
        problems = []
        for property_ in self._properties():
            given = values.get(property_.attribute)
            if given is None and property_.attribute not in values:
                if creating and property_.required and property_.attribute != "id":
                    problems.append(Detail(property_.name, "is required"))
                continue
            longest = property_.max_length
            if longest is not None and isinstance(given, str) and len(given) > longest:
                problems.append(Detail(property_.name, f"has at most {longest} characters"))
        if problems:
            raise ValidationError(problems)

    def _properties(self) -> list[edm.Property]:
        found = []
        for property_ in self.type.properties.values():
            if property_.columns is None:
                found.append(property_)
            elif isinstance(property_.type, edm.ComplexType):
                found += property_.type.properties.values()
        return found

    def _is(self, key: Any) -> list[Any]:
        parts = key if isinstance(key, tuple) else (key,)
        return [column == part for column, part in zip(self.table.primary_key, parts, strict=True)]

    def _run(self, statement: Any) -> Any:
        savepoint = records.connection().begin_nested()
        try:
            found = records.connection().execute(statement)
        except IntegrityError as error:
            savepoint.rollback()
            text = str(error.orig).lower()
            if "foreign key" in text:
                raise ValidationError([("", "points at something that does not exist")]) from error
            raise DuplicateError(f"There is such a {self.type.name} already.") from error
        savepoint.commit()
        return found


class ProductService(TableService):
    """Products are related to each other, and have a photo; who was deleted is remembered."""

    def delete(self, key: Any, version: int | None = None) -> None:
        super().delete(key, version)
        self._run(insert(t.deleted_products).values(id=key, deleted_at=utc_now()))

    def link(self, key: Any, navigation: str, target: Any) -> None:
        columns = t.related_products.c
        known = select(columns.product_id).where(
            columns.product_id == key, columns.related_id == target
        )
        if self._run(known).first() is None:
            self._run(insert(t.related_products).values(product_id=key, related_id=target))

    def unlink(self, key: Any, navigation: str, target: Any) -> None:
        columns = t.related_products.c
        self._run(
            delete(t.related_products).where(
                columns.product_id == key, columns.related_id == target
            )
        )

    def read_stream(self, key: Any, name: str) -> Response:
        row = self.row(key)
        kind = row["photo_type"] or "application/octet-stream"
        return Response(row["photo"] or b"", content_type=kind)

    def replace_stream(
        self,
        key: Any,
        name: str,
        content: Iterable[bytes],
        content_type: str,
        version: int | None = None,
    ) -> None:
        self.update(key, {"photo": b"".join(content), "photo_type": content_type}, version)

    def delete_stream(self, key: Any, name: str, version: int | None = None) -> None:
        self.update(key, {"photo": None, "photo_type": None}, version)


class MediaService(TableService):
    """Media items: rows with bytes."""

    def create_media(self, content: Iterable[bytes], content_type: str, name: str | None) -> Any:
        return self.create({**_media(content, content_type), "name": name or "Unnamed"})

    def read_media(self, key: Any, method: str, headers: Headers) -> Response:
        row = self.row(key)
        return Response(row["content"] or b"", content_type=row["content_type"])

    def replace_media(
        self, key: Any, content: Iterable[bytes], content_type: str, version: int | None = None
    ) -> None:
        self.update(key, _media(content, content_type), version)

    def delete_media(self, key: Any, version: int | None = None) -> None:
        self.update(key, {"content": None, "size": None}, version)


def _media(content: Iterable[bytes], content_type: str) -> dict[str, Any]:
    whole = b"".join(content)
    return {"content": whole, "content_type": content_type, "size": len(whole)}

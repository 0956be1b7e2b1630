"""Pages of plain lists: their rows, what belongs to these and the total are of one moment."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from flask import Flask
from sqlalchemy import Connection, Row, insert, select

from app.db.engines import transaction
from app.http.lists import read_page
from app.http.security import acting_as, system_caller
from app.models.event import Counter

COUNTERS = Counter.__table__


def test_what_is_written_in_between_is_not_seen(app: Flask) -> None:
    def write(name: str) -> None:
        with transaction() as session, acting_as(system_caller("test")):
            session.execute(insert(COUNTERS).values(name=name, value=1))

    def shape(connection: Connection, rows: Iterable[Row[Any]]) -> list[dict[str, Any]]:
        shown = [{"name": row.name} for row in rows]
        write("page b")
        more = connection.execute(select(COUNTERS.c.name).where(COUNTERS.c.name.like("page %")))
        assert [row.name for row in more] == ["page a"]
        return shown

    statement = select(COUNTERS).where(COUNTERS.c.name.like("page %")).order_by(COUNTERS.c.name)
    with app.app_context():
        write("page a")
        page = read_page(statement, shape, limit=5, offset=0)
        assert (page["items"], page["total"]) == ([{"name": "page a"}], 1)
        assert read_page(statement, lambda *_: [], limit=5, offset=0)["total"] == 2

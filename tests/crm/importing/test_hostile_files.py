"""Files that hold more than they show: counted while they are read, refused or left to a job."""

from __future__ import annotations

import io
import itertools
import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.crm.importing.jobs import run_imports
from app.crm.importing.limits import REQUEST, Limits, TooMuchError
from app.crm.importing.tables import open_table
from app.errors import ValidationError
from app.models.client import Client
from tests.contract.conftest import Api, admin, sign_in
from tests.crm.importing.hostile import ENDLESS, HARMLESS, HEAD, MUCH, ROW, workbook

__all__ = ["admin", "sign_in"]
# Of the processor, on a slow machine; and by how much the process may grow.
MOST_SECONDS = 10
MOST_KILOBYTES = 150_000


def read(path: Path, limits: Limits = REQUEST) -> int:
    with open_table(path, limits) as table:
        return sum(1 for _ in table.rows)


@contextmanager
def bounded() -> Iterator[None]:
    """Neither much time nor much memory is used inside."""
    begin, before = time.thread_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    yield
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert time.thread_time() - begin < MOST_SECONDS and grown < MOST_KILOBYTES


@pytest.mark.parametrize("name", ENDLESS)
def test_what_no_sheet_has_is_refused(tmp_path: Path, name: str) -> None:
    path = ENDLESS[name](tmp_path / "table")
    assert path.stat().st_size < 51_000_000
    with bounded(), pytest.raises(ValidationError) as refused:
        read(path)
    assert not isinstance(refused.value, TooMuchError) and refused.value.details[0].field == "file"


@pytest.mark.parametrize("name", MUCH)
def test_what_is_too_much_for_a_request_is_known_soon(tmp_path: Path, name: str) -> None:
    path = MUCH[name](tmp_path / "table")
    with bounded(), pytest.raises(TooMuchError, match="file"):
        read(path)


@pytest.mark.parametrize("name", HARMLESS)
def test_what_only_looks_like_much_is_read(tmp_path: Path, name: str) -> None:
    with bounded():
        assert read(HARMLESS[name](tmp_path / "table")) == 1


def test_time_is_counted(tmp_path: Path) -> None:
    path = workbook(tmp_path / "table", (HEAD, *(ROW.format(at) for at in range(2, 9000))))
    few = Limits(rows=10**6, cells=10**6, size=10**9, texts=10**6, strings=10**6, seconds=0.001)
    with pytest.raises(TooMuchError, match="seconds"):
        read(path, few)


def send(api: Api, path: Path, **fields: Any) -> Any:
    form = {"type": "client", **fields, "file": (io.BytesIO(path.read_bytes()), "big.xlsx")}
    return api.client.post("/api/crm/import", data=form, headers=api.headers)


@pytest.mark.parametrize("name", ["one row a million times", "an endless attribute", "entities"])
def test_an_import_of_it_is_a_400(admin: Api, tmp_path: Path, name: str) -> None:
    answer = send(admin, ENDLESS[name](tmp_path / "table"))
    assert (answer.status_code, answer.json["error"]["details"][0]["field"]) == (400, "file")


def test_what_is_too_much_for_the_request_is_read_by_the_worker(
    app: Flask, admin: Api, session: Session, tmp_path: Path
) -> None:
    blanks = (" " * 1_000_000 for _ in range(50))
    answer = send(
        admin, workbook(tmp_path / "table", itertools.chain((HEAD, ROW.format(2)), blanks))
    )
    assert answer.status_code == 202
    with app.app_context():
        assert run_imports() == 1
    session.rollback()
    assert session.scalar(select(func.count()).select_from(Client)) == 1

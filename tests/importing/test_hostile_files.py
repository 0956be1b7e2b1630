"""Files that hold more than they show: counted while they are read, refused or left to a job."""

from __future__ import annotations

import io
import itertools
import random
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

from app.errors import UnsupportedMediaTypeError, ValidationError
from app.importing.jobs import run_imports
from app.importing.limits import REQUEST, Limits, TooMuchError
from app.importing.tables import open_table
from app.models.client import Client
from tests.contract.conftest import Api, admin, sign_in
from tests.importing.hostile import (
    CELLS,
    ENCODINGS,
    ENDLESS,
    HARMLESS,
    HEAD,
    MUCH,
    ROW,
    broken,
    damaged,
    with_cell,
    with_encoding,
    workbook,
)

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


def is_read(path: Path) -> bool:
    """Whether a file is read to its end; it may be refused for what it is, and nothing else."""
    try:
        read(path)
    except (ValidationError, UnsupportedMediaTypeError) as refused:
        assert "file" in str(refused.to_dict())
        return False
    return True


@pytest.mark.parametrize("part", ["xl/workbook.xml", "xl/sharedStrings.xml", "xl/styles.xml"])
def test_an_encoding_that_is_not_known_is_refused(tmp_path: Path, part: str) -> None:
    refused = {
        encoding
        for encoding in ENCODINGS
        if not is_read(with_encoding(tmp_path / encoding[:20], part, encoding))
    }
    assert refused >= {"x-unknown", "rot13", "base64", "undefined", "-", "a" * 300}
    assert not refused & {"ascii", "latin-1"}


@pytest.mark.parametrize("is_shared", [False, True], ids=["in the cell", "shared"])
def test_what_is_no_text_is_refused(tmp_path: Path, is_shared: bool) -> None:
    for content, is_text in CELLS.items():
        path = with_cell(tmp_path / "table", content, is_shared=is_shared)
        assert is_read(path) is is_text, content


def test_workbooks_with_broken_parts_are_refused_or_read(tmp_path: Path) -> None:
    refused = {name for name, path in broken(tmp_path) if not is_read(path)}
    assert {name for name in refused if name.startswith("xl/workbook.xml")} and len(refused) > 25


def test_damaged_files_are_refused_or_read(tmp_path: Path) -> None:
    outcomes = [is_read(path) for path in damaged(tmp_path, 400, random.Random(16))]
    assert 10 < sum(outcomes) < 390


def test_time_is_counted(tmp_path: Path) -> None:
    path = workbook(tmp_path / "table", (HEAD, *(ROW.format(at) for at in range(2, 9000))))
    few = Limits(rows=10**6, cells=10**6, size=10**9, texts=10**6, strings=10**6, seconds=0.001)
    with pytest.raises(TooMuchError, match="seconds"):
        read(path, few)


def send(api: Api, path: Path, **fields: Any) -> Any:
    form = {"type": "client", **fields, "file": (io.BytesIO(path.read_bytes()), "big.xlsx")}
    return api.client.post("/api/crm/import", data=form, headers=api.headers)


def test_an_import_of_what_is_broken_is_a_400_with_the_place(admin: Api, tmp_path: Path) -> None:
    for content, is_text in CELLS.items():
        answer = send(admin, with_cell(tmp_path / "table", content, is_shared=False))
        # Of a text the columns may have an opinion.
        assert answer.status_code in ((200, 202, 400) if is_text else (400,)), content
        assert is_text or answer.json["error"]["details"][0]["field"] == "file"
    half = send(admin, with_cell(tmp_path / "table", "_xD800_", is_shared=False))
    assert "row 2, column 1 has half a character" in half.text
    unknown = send(admin, with_encoding(tmp_path / "table", "xl/workbook.xml", "x-unknown"))
    assert "xl/workbook.xml has an encoding that is not known" in unknown.text


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

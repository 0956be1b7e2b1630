"""Files that are needed for a moment find room, wherever it is, or the caller is told."""

from __future__ import annotations

import ast
import io
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from flask import Flask

from app.blobs import is_passing
from app.errors import ServiceUnavailableError
from app.jobs import scratch
from app.jobs.scratch import scratch_folder
from tests.architecture.modules import nodes_of, sources
from tests.contract.conftest import Api, admin, sign_in

__all__ = ["admin", "sign_in"]
LITTLE, MORE, PLENTY = 1000, 100_000_000, 1_000_000_000

SetRoom = Callable[[int, int], None]


@pytest.fixture
def places(app: Flask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """The system's folder for temporary files, and ``DATA_DIR``."""
    system, data = tmp_path / "system", tmp_path / "data"
    system.mkdir()
    data.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(system))
    monkeypatch.setitem(app.config, "DATA_DIR", data)
    return system, data


@pytest.fixture
def set_room(places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> SetRoom:
    """Say how many bytes are free in each of the two."""

    def set_(system: int, data: int) -> None:
        free = {places[0]: system, places[1]: data}
        monkeypatch.setattr(
            scratch.shutil, "disk_usage", lambda place: SimpleNamespace(free=free[place])
        )

    return set_


@pytest.mark.parametrize(
    ("system", "data", "chosen"),
    [
        (PLENTY, PLENTY * 2, 0),
        (MORE, MORE, 0),
        (LITTLE, MORE, 1),
        (MORE, LITTLE, 0),
        (0, LITTLE, 1),
        (LITTLE, 0, 0),
    ],
)
def test_a_folder_lies_where_there_is_room(
    app: Flask, places: tuple[Path, Path], set_room: SetRoom, system: int, data: int, chosen: int
) -> None:
    set_room(system, data)
    with app.app_context(), scratch_folder("try-") as name:
        assert Path(name).parent == places[chosen]
    assert not Path(name).exists()


def test_what_can_be_tried_again_is_refused_where_there_is_none(
    app: Flask, set_room: SetRoom
) -> None:
    set_room(0, 0)
    with app.app_context(), pytest.raises(ServiceUnavailableError, match="no room") as refused:
        scratch_folder("try-")
    assert is_passing(refused.value) and "Retry-After" in refused.value.headers


def test_a_folder_that_is_not_there_has_no_room(app: Flask, places: tuple[Path, Path]) -> None:
    places[0].rmdir()
    with app.app_context(), scratch_folder("try-") as name:
        assert Path(name).parent == places[1]


@pytest.mark.parametrize("is_full", [True, False], ids=["full", "no place at all"])
def test_imports_and_exports_need_no_room_in_the_folder_of_the_system(
    admin: Api, places: tuple[Path, Path], set_room: SetRoom, monkeypatch: pytest.MonkeyPatch,
    is_full: bool,
) -> None:  # fmt: skip
    if is_full:
        set_room(0, PLENTY)
    else:
        monkeypatch.setattr(tempfile, "gettempdir", nowhere)
    form = {"type": "client", "file": (io.BytesIO(b"name\nRoomy"), "clients.csv")}
    imported = admin.post("/api/crm/import", data=form, content_type="multipart/form-data")
    assert (imported.status_code, imported.json["created"]) == (200, 1)
    for file_format in ("xlsx", "csv", "json", "pdf"):
        exported = admin.post("/api/bi/reports/1/export", {"format": file_format})
        assert exported.status_code == 200 and exported.data
    assert list(places[1].glob("*-*")) == []


def nowhere() -> str:
    raise FileNotFoundError("No usable temporary directory found")


def test_nothing_else_asks_the_system_for_a_folder() -> None:
    askers = {
        module
        for module, tree in sources().items()
        for node in nodes_of(tree)
        if isinstance(node, ast.Attribute) and node.attr in ("gettempdir", "TemporaryDirectory")
    }
    assert askers == {"app.jobs.scratch"}

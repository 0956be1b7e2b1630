"""A backup brings everything back: rows to the digit, files to the byte, on either database."""

from __future__ import annotations

import os
import re
import stat
import struct
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import pytest
from flask import Flask
from sqlalchemy import delete, func, select, text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app.backup.archive import (
    MANIFEST,
    BackupError,
    Manifest,
    select_rows,
    stored_columns,
    write_lines,
)
from app.backup.restoring import read_manifest, restore_backup
from app.backup.writing import write_backup
from app.blobs import blobs
from app.clock import utc_now
from app.config import Config
from app.db import records
from app.db.engines import read_engine, transaction
from app.extensions import Model, db
from app.factory import create_app
from app.http.security import acting_as, system_caller
from app.importing.history import import_records
from app.invoices.chain import key_of
from app.models.client import Client
from app.models.document import DocumentVersion
from app.models.invoice import Invoice
from app.models.webhook import WebhookEndpoint
from app.webhooks.fan_out import fan_out
from app.webhooks.messages import new_secret, sealed_secret
from tests.conftest import Once
from tests.contract.conftest import Api, sign_in
from tests.databases import close_engines, new_database
from tests.documents.conftest import Files
from tests.factories import make_issued_invoice
from tests.importing.test_history import FILE
from tests.migrated import MigratedDatabases

__all__ = ["sign_in"]
pytestmark = pytest.mark.costly(2)

SECRET_KEY = "not-a-secret-only-for-the-tests-of-this-run"
KINDS = [
    "sqlite",
    pytest.param("postgresql", marks=pytest.mark.needs("postgresql")),
]
Build = Callable[..., Flask]


@pytest.fixture
def empty_app(tmp_path: Path, migrated: MigratedDatabases) -> Iterator[Build]:
    """Build an application on an empty database of a kind, with a store of its own.

    ``empty_app("sqlite", has_tables=False)`` is one that was never migrated.
    """
    with _Databases(tmp_path, migrated) as databases:
        yield databases.build


class _Databases:
    def __init__(self, folder: Path, migrated: MigratedDatabases) -> None:
        self._folder = folder
        self._migrated = migrated
        self._open: list[Any] = []
        self._apps: list[Flask] = []

    def __enter__(self) -> _Databases:
        return self

    def build(self, kind: str, *, has_tables: bool = True, **settings: Any) -> Flask:
        name = f"business_platform_restore_{os.getpid()}_{len(self._open)}"
        new = self._migrated.new if has_tables else new_database
        database = new(kind, self._folder, name)
        url = database.__enter__()
        self._open.append(database)
        defaults = {
            "SECRET_KEY": SECRET_KEY,
            "DATA_DIR": self._folder,
            "SQLALCHEMY_DATABASE_URI": url,
            "STORAGE_URL": f"file://{self._folder / name}",
            "TESTING": True,
        }
        config = Config(**{**defaults, **settings})
        self._apps.append(create_app(config))
        return self._apps[-1]

    def __exit__(self, *error: object) -> None:
        for app in self._apps:
            close_engines(app)
        for database in self._open:
            database.__exit__(None, None, None)


@contextmanager
def filled(app: Flask, once: Once) -> Iterator[None]:
    """Records with a history, and a file, in ``app``."""
    with app.app_context():
        once("a history", partial(import_records, FILE))
        blobs.current.put("documents/aa/aabb", b"the bytes of a file" * 100)
        yield
        blobs.current.delete("documents/aa/aabb")


def contents(app: Flask) -> dict[str, bytes]:
    """Every row of every table, as an archive has it."""
    with app.app_context(), read_engine().connect() as connection:
        return {
            table.name: write_lines(
                connection.execute(select_rows(table, stored_columns(table))).all()
            )
            for table in Model.metadata.sorted_tables
        }


@pytest.mark.requirement("OPS-04")
@pytest.mark.parametrize("target", KINDS)
def test_everything_comes_back(
    app: Flask, once: Once, empty_app: Build, tmp_path: Path, target: str
) -> None:
    archive = tmp_path / "backup.zip"
    with filled(app, once):
        write_backup(archive)
    restored = empty_app(target, has_tables=False)
    with restored.app_context():
        restore_backup(archive)
        assert blobs.current.read("documents/aa/aabb") == b"the bytes of a file" * 100
    before, after = contents(app), contents(restored)
    assert sum(len(lines) for lines in before.values()) > 1000
    *lines, told = after["audit_records"].splitlines(keepends=True)
    assert b"".join(lines) == before["audit_records"] and b"backup.restored" in told
    assert {name for name in before if before[name] != after[name]} == {"audit_records"}


@pytest.mark.parametrize("target", KINDS)
def test_a_restored_service_goes_on(
    app: Flask, once: Once, empty_app: Build, tmp_path: Path, target: str
) -> None:
    clients = Model.metadata.tables["clients"]
    with filled(app, once):
        import_records({"Clients": [{"name": "Gone"}]})
        with db.engine.begin() as connection:
            last = connection.scalar(select(func.max(Client.id)))
            connection.execute(delete(clients).where(clients.c.id == last))
        write_backup(tmp_path / "backup.zip")
    restored = empty_app(target)
    with restored.app_context():
        restore_backup(tmp_path / "backup.zip")
        import_records({"Clients": [{"name": "New"}]})
        with read_engine().connect() as connection:
            new = connection.scalar(select(Client.id).where(Client.name == "New"))
        assert new > last  # the key of one that was deleted before the backup
        with db.engine.connect() as connection, pytest.raises(IntegrityError):
            connection.execute(clients.update().values(origin_lead_id=10**9))
            connection.commit()


def test_who_follows_the_changes_is_told(
    app: Flask, empty_app: Build, sign_in: Callable[..., Api], tmp_path: Path
) -> None:
    api = sign_in("Admin")
    write(api, app, "Kept")
    with app.app_context():
        write_backup(tmp_path / "backup.zip")
    cursors = [api.get("/api/events").json["next"]]
    write(api, app, "Lost")
    cursors.append(api.get("/api/events").json["next"])
    link = delta_link(api)
    restored = empty_app("sqlite")
    with restored.app_context():
        restore_backup(tmp_path / "backup.zip")
    again = Api(restored.test_client(), api.headers)
    write(again, restored, "New")
    assert again.get(link).status_code == 410
    for cursor in cursors:
        journal = again.get(f"/api/events?after={cursor}").json
        assert journal["gap"], cursor
        assert [item["data"]["object"]["name"] for item in journal["items"]] == ["New"]
    write(again, restored, "Newer")
    following = again.get(f"/api/events?after={journal['next']}").json
    assert [item["data"]["object"]["name"] for item in following["items"]] == ["Newer"]
    assert not following["gap"]
    assert again.get(delta_link(again)).status_code == 200


def write(api: Api, app: Flask, name: str) -> None:
    """Make a client, and give the event of it its place."""
    assert api.post("/odata/Clients", {"name": name}).status_code == 201
    with app.app_context():
        fan_out()


def delta_link(api: Api) -> str:
    whole = api.get("/odata/Clients?$select=name", headers={"Prefer": "track-changes"})
    return str(whole.json["@odata.deltaLink"]).replace("http://localhost", "")


@pytest.mark.requirement("OPS-04")
def test_sums_of_money_are_equal_to_the_cent(
    app: Flask, once: Once, empty_app: Build, tmp_path: Path
) -> None:
    with filled(app, once):
        write_backup(tmp_path / "backup.zip")
    restored = empty_app("sqlite")
    with restored.app_context():
        restore_backup(tmp_path / "backup.zip")
    sums = []
    for one in (app, restored):
        with one.app_context(), read_engine().connect() as connection:
            sums.append(connection.scalar(select(func.sum(Invoice.total))))
    assert sums[0] == sums[1]
    assert sums[0] is not None and Decimal(sums[0]) > 0


@pytest.mark.only_on("postgresql")
def test_who_holds_a_table_is_to_be_stopped(
    app: Flask, once: Once, empty_app: Build, tmp_path: Path
) -> None:
    with filled(app, once):
        write_backup(tmp_path / "backup.zip")
    restored = empty_app("postgresql")
    with restored.app_context(), db.engine.begin() as holding:
        holding.exec_driver_sql("LOCK TABLE settings IN ACCESS SHARE MODE")
        with pytest.raises(BackupError, match="stop web and worker processes"):
            restore_backup(tmp_path / "backup.zip")


def test_a_database_in_use_is_left_alone(app: Flask, once: Once, tmp_path: Path) -> None:
    with filled(app, once):
        write_backup(tmp_path / "backup.zip")
        with pytest.raises(BackupError, match="in use"):
            restore_backup(tmp_path / "backup.zip")


def test_a_damaged_archive_leaves_nothing(
    app: Flask, once: Once, empty_app: Build, tmp_path: Path
) -> None:
    whole, damaged = tmp_path / "backup.zip", tmp_path / "damaged.zip"
    with filled(app, once):
        write_backup(whole)
    with zipfile.ZipFile(whole) as source, zipfile.ZipFile(damaged, "w") as copy:
        for name in source.namelist():
            content = source.read(name)
            if name.startswith("tables/clients/"):
                content = content.replace(b"C-000412", b"C-000413")
            copy.writestr(name, content)
    restored = empty_app("sqlite")
    with restored.app_context():
        with pytest.raises(BackupError, match="damaged: tables/clients"):
            restore_backup(damaged)
        with read_engine().connect() as connection:
            assert connection.scalar(select(func.count()).select_from(Client)) == 0


@pytest.mark.parametrize("content", [b"", b"no archive", None], ids=["empty", "text", "other"])
def test_what_is_no_backup_is_said_to_be_none(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "file.zip"
    if content is None:
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("hello", "world")
    else:
        file.write_bytes(content)
    with pytest.raises(BackupError, match="no backup"):
        read_manifest(file)


def test_a_backup_of_a_newer_version_is_refused(
    app: Flask, empty_app: Build, tmp_path: Path
) -> None:
    file = tmp_path / "newer.zip"
    newer = Manifest(revision="9999", created_at="2030-01-01T00:00:00.000Z", key_id="")
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(MANIFEST, newer.dump())
    with empty_app("sqlite").app_context(), pytest.raises(BackupError, match="newer version"):
        restore_backup(file)


def test_commands_say_what_they_did(
    app: Flask, once: Once, empty_app: Build, tmp_path: Path
) -> None:
    file = tmp_path / "backup.zip"
    with filled(app, once):
        made = app.test_cli_runner().invoke(args=["backup", str(file)])
        again = app.test_cli_runner().invoke(args=["backup", str(file)])
    assert (made.exit_code, again.exit_code) == (0, 1)
    assert re.search(r"\d+ rows and \d+ files of ", made.output)
    assert "exists already" in again.output
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    restored = empty_app("sqlite").test_cli_runner().invoke(args=["restore", str(file)])
    assert restored.exit_code == 0, restored.output
    assert "Restored:" in restored.output


@pytest.mark.requirement("OPS-04")
def test_a_backup_sees_one_instant(app: Flask, once: Once, tmp_path: Path) -> None:
    """What is written while a backup runs is in all of its tables or in none."""

    def write_meanwhile(what: str, done: int, total: int) -> None:
        if not added:
            added.append(done)
            with transaction() as session:
                session.execute(text("UPDATE clients SET notes = 'changed meanwhile'"))

    added: list[int] = []
    with filled(app, once):
        manifest = write_backup(tmp_path / "backup.zip", progress=write_meanwhile)
    assert added
    with zipfile.ZipFile(tmp_path / "backup.zip") as archive:
        (part,) = manifest.tables["clients"].parts
        assert b"changed meanwhile" not in archive.read(part)


def test_a_schema_without_tables_is_nothing_to_back_up(empty_app: Build, tmp_path: Path) -> None:
    app = empty_app("sqlite", has_tables=False)
    with app.app_context(), pytest.raises(BackupError, match="empty"):
        write_backup(tmp_path / "backup.zip")
    assert not (tmp_path / "backup.zip").exists()


def rewritten(whole: Path, change: Callable[[str, bytes], bytes | None]) -> Path:
    """A copy of an archive with other contents; what is None is left out."""
    copy = whole.with_name("changed.zip")
    with zipfile.ZipFile(whole) as source, zipfile.ZipFile(copy, "w") as target:
        for name in source.namelist():
            content = change(name, source.read(name))
            if content is not None:
                target.writestr(name, content)
    return copy


def _with_manifest(change: Callable[[dict[str, Any]], Any]) -> Callable[[str, bytes], bytes]:
    def changed(name: str, content: bytes) -> bytes:
        if name != MANIFEST:
            return content
        values = orjson.loads(content)
        change(values)
        return orjson.dumps(values)

    return changed


def _one_row_more(values: dict[str, Any]) -> None:
    values["tables"]["clients"]["rows"] += 1


def _unknown_table(values: dict[str, Any]) -> None:
    values["tables"]["secrets"] = values["tables"]["clients"]


def _without(start: str) -> Callable[[str, bytes], bytes | None]:
    return lambda name, content: None if name.startswith(start) else content


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_without("tables/clients/"), "damaged: tables/clients"),
        (_without("files/documents/aa/aabb"), "damaged: files/documents/aa/aabb cannot be read"),
        (lambda name, content: b"other" if name.endswith("aa/aabb") else content,
         "damaged: files/documents/aa/aabb is not what was written"),
        (_with_manifest(_one_row_more), "clients has"),
        (_with_manifest(_unknown_table), "a table secrets that this version does not know"),
    ],
    ids=["table left out", "file left out", "other file", "row left out", "unknown table"],
)  # fmt: skip
def test_what_is_not_as_it_was_written_is_not_restored(
    app: Flask, once: Once, empty_app: Build, tmp_path: Path, change: Any, words: str
) -> None:
    with filled(app, once):
        write_backup(tmp_path / "backup.zip")
    damaged = rewritten(tmp_path / "backup.zip", change)
    restored = empty_app("sqlite")
    told = restored.test_cli_runner().invoke(args=["restore", str(damaged)])
    assert told.exit_code == 1
    assert "Nothing was restored: " in told.output and words in told.output
    with restored.app_context(), read_engine().connect() as connection:
        assert connection.scalar(select(func.count()).select_from(Client)) == 0


@pytest.mark.parametrize("start", ["tables/clients/", "files/documents/aa/", MANIFEST])
def test_bytes_that_were_changed_on_the_way_are_noticed(
    app: Flask, once: Once, empty_app: Build, tmp_path: Path, start: str
) -> None:
    path = tmp_path / "backup.zip"
    with filled(app, once):
        write_backup(path)
    with zipfile.ZipFile(path) as archive:
        member = next(one for one in archive.infolist() if one.filename.startswith(start))
    content = bytearray(path.read_bytes())
    begin = member.header_offset
    name, extra = struct.unpack_from("<HH", content, begin + 26)
    content[begin + 30 + name + extra] ^= 0xFF
    path.write_bytes(content)
    restored = empty_app("sqlite")
    told = restored.test_cli_runner().invoke(args=["restore", str(path)])
    assert told.exit_code == 1
    assert "Nothing was restored: " in told.output
    assert "damaged: " in told.output or "is no backup" in told.output


def test_a_backup_names_the_files_that_the_store_has_lost(
    app: Flask, sign_in: Callable[..., Api], session: Session, tmp_path: Path
) -> None:
    Files(sign_in("Admin")).document()
    with app.app_context(), transaction(), acting_as(system_caller("test")):
        make_issued_invoice()
    keys = {
        session.scalars(select(DocumentVersion.blob_key)).one(),
        key_of(str(session.scalars(select(Invoice.pdf_sha256)).one())),
    }
    with app.app_context():
        for key in keys:
            blobs.current.delete(key)
    told = app.test_cli_runner().invoke(args=["backup", str(tmp_path / "backup.zip")])
    assert told.exit_code == 1
    assert "missing files of documents and invoices: 2; the rest is kept" in told.output
    assert all(f"missing from the store of files: {key}" in told.output for key in keys)
    assert (tmp_path / "backup.zip").exists()


OTHER = "another-secret-only-for-the-tests-of-this-run"
OLDER = "an-older-secret-only-for-the-tests-of-this-run"


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ({"SECRET_KEY": SECRET_KEY, "SECRET_KEY_PREVIOUS": (OLDER,)}, None),
        ({"SECRET_KEY": OTHER, "SECRET_KEY_PREVIOUS": (SECRET_KEY, OLDER)}, None),
        ({"SECRET_KEY": OTHER}, "another than that of the backup: people sign in again, links in"
                                " mails open nothing; unreadable secrets of webhooks: 2"),
        ({"SECRET_KEY": SECRET_KEY}, "Unreadable secrets of webhooks: 1, sealed with a key from"
                                     " before"),
    ],
    ids=["same", "named as one of before", "another", "without the one before"],
)  # fmt: skip
def test_a_restore_says_which_secrets_its_keys_do_not_open(
    tmp_path: Path, empty_app: Build, keys: dict[str, Any], told: str | None
) -> None:
    for secret_key in (OLDER, SECRET_KEY):
        app = empty_app("sqlite", SECRET_KEY=secret_key)
        with app.app_context():
            sealed = sealed_secret(new_secret())
        if secret_key == OLDER:
            from_before = sealed
    endpoint = {
        "url": "https://example.com/", "events": ["*"], "secret": sealed,
        "previous_secret": from_before, "created_at": utc_now(), "updated_at": utc_now(),
    }  # fmt: skip
    with app.app_context(), transaction():
        records.insert(WebhookEndpoint, endpoint)
    file = tmp_path / "backup.zip"
    saved = app.test_cli_runner().invoke(args=["backup", str(file)])
    assert saved.exit_code == 0 and "SECRET_KEY, as it is set here" in saved.output
    restored = empty_app("sqlite", **keys).test_cli_runner().invoke(args=["restore", str(file)])
    assert restored.exit_code == 0, restored.output
    assert told in restored.output if told else "cannot be read" not in restored.output
    assert ("secret_key of its DATA_DIR" in restored.output) == (keys == {"SECRET_KEY": OTHER})


def test_a_backup_names_the_file_of_a_key_that_nobody_has_set(
    tmp_path: Path, empty_app: Build
) -> None:
    (tmp_path / "secret_key").write_text(SECRET_KEY)
    told = empty_app("sqlite").test_cli_runner().invoke(args=["backup", str(tmp_path / "b.zip")])
    assert f"the key in {tmp_path / 'secret_key'}" in told.output

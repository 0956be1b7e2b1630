"""The trash is emptied and the store swept, and nothing that a row names is touched."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from flask import Flask
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.blobs import BlobStore, blobs, new_key
from app.documents import cleanup
from app.documents.cleanup import Cleaned, clean_store, end_expired_links, purge_trash
from app.documents.files import store_file
from app.extensions import Model
from tests.contract.conftest import Api
from tests.documents.conftest import TEXT, Files


@pytest.fixture
def app(make_app: Callable[..., Flask]) -> Flask:
    """An application with a store of its own."""
    return make_app(STORAGE_URL="memory://")


@pytest.fixture
def files(app: Flask, sign_in: Callable[..., Api]) -> Files:
    return Files(sign_in("Admin", app))


@pytest.fixture
def store(app: Flask) -> Iterator[BlobStore]:
    with app.app_context():
        yield blobs.of(app)


def later(**time: float) -> Any:
    return time_machine.travel(datetime.now(UTC) + timedelta(**time), tick=True)


def keys(store: BlobStore) -> set[str]:
    return {entry.key for entry in store.entries()}


def test_a_blob_without_a_row_goes_at_the_second_look(files: Files, store: BlobStore) -> None:
    document = files.document()
    named = keys(store)
    orphan, other = new_key("documents"), new_key("invoices")
    store.put(orphan, b"left behind")
    store.put(other, b"of another area")
    assert clean_store() == Cleaned()  # too young
    with later(hours=25):
        assert clean_store(dry_run=True) == Cleaned(noted=1)
        assert clean_store() == Cleaned(noted=1)
        assert clean_store() == Cleaned()  # too soon after the first look
        assert orphan in keys(store)
    with later(hours=32):
        assert clean_store() == Cleaned(removed=1)
        assert clean_store() == Cleaned()
    assert keys(store) == named | {other}
    assert files.download(document).data == TEXT


def test_a_row_that_comes_between_the_looks_saves_its_blob(
    files: Files, store: BlobStore, unit_of_work: Callable[..., Any]
) -> None:
    key = files.document()
    file = store_file([TEXT], "slow.txt", 1000)
    with later(hours=25):
        assert clean_store().noted == 1
    versions: Any = Model.metadata.tables["document_versions"]
    with unit_of_work() as session:
        session.execute(versions.update().values(blob_key=file.blob.key))
    with later(hours=40):
        assert clean_store().removed == 0
        assert file.blob.key in keys(store)
    assert files.download(key).status_code == 200


def test_an_upload_that_ends_before_its_row_leaves_no_row(
    app: Flask, files: Files, store: BlobStore, monkeypatch: pytest.MonkeyPatch, session: Session
) -> None:
    """The process dies between blob and commit: nothing names the bytes, which go later."""

    def die(*args: Any) -> None:
        raise SystemExit("killed")

    monkeypatch.setattr("app.documents.service.DocumentService.add_file", die)
    with pytest.raises(SystemExit):
        files.upload()
    monkeypatch.undo()
    assert len(keys(store)) == 1
    for table in ("documents", "document_versions"):
        assert session.execute(select(Model.metadata.tables[table].c.id)).all() == []
    with later(hours=25):
        clean_store()
    with later(hours=32):
        assert clean_store().removed == 1
    assert keys(store) == set()


def test_the_trash_is_emptied_after_thirty_days(
    files: Files, store: BlobStore, session: Session, unit_of_work: Callable[..., Any]
) -> None:
    gone, restored, retained, kept = (files.document(name=f"{n}") for n in range(4))
    address = "/odata/Documents({})".format
    for key in (gone, restored, retained):
        assert files.api.delete(address(key)).status_code == 204
    assert purge_trash() == 0
    files.api.post(f"/api/documents/{restored}/restore")
    documents: Any = Model.metadata.tables["documents"]
    with later(days=29, hours=23):
        assert purge_trash() == 0
    until = (datetime.now(UTC) + timedelta(days=60)).date()
    with unit_of_work() as writing:
        statement = documents.update().where(documents.c.id == retained)
        writing.execute(statement.values(retain_until=until))
    before = keys(store)
    with later(days=30, minutes=1):
        assert purge_trash() == 1
        assert purge_trash() == 0
    assert len(before - keys(store)) == 1
    ids = session.execute(select(documents.c.id).order_by(documents.c.id)).scalars().all()
    assert ids == [restored, retained, kept]
    audit = Model.metadata.tables["audit_records"]
    purged = select(audit.c.entity_id).where(audit.c.action == "document.purged")
    assert session.execute(purged).scalars().all() == [gone]
    events = Model.metadata.tables["events"]
    told = select(events.c.id).where(
        events.c.type == "document.deleted", events.c.entity_id == gone
    )
    assert len(session.execute(told).all()) == 1


def test_what_is_restored_while_the_trash_is_emptied_stays(
    files: Files, store: BlobStore, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys_of = [files.document(name=f"{n}") for n in range(2)]
    for key in keys_of:
        files.api.delete(f"/odata/Documents({key})")
    purge = cleanup.purge

    def restored_first(key: int, before: datetime) -> bool:
        if key == keys_of[0]:
            with later(days=-30):  # the caller's session has not ended yet
                assert files.api.post(f"/api/documents/{key}/restore").status_code == 200
        return purge(key, before)

    with later(days=30, minutes=1):
        monkeypatch.setattr(cleanup, "purge", restored_first)
        assert purge_trash() == 1
    documents = Model.metadata.tables["documents"]
    assert session.execute(select(documents.c.id)).scalars().all() == keys_of[:1]
    assert len(keys(store)) == 1


def test_documents_are_not_shared_any_more_when_their_links_have_expired(
    app: Flask, files: Files
) -> None:
    for days in (1, 3):
        key = files.document()
        files.api.post(f"/api/documents/{key}/share", {"expiresInDays": days})
    with app.app_context():
        assert end_expired_links() == 0
        with later(days=2):
            assert end_expired_links() == 1
            assert end_expired_links() == 0
    shared = files.api.get("/odata/Documents?$filter=isShared&$select=id").json["value"]
    assert [row["id"] for row in shared] == [key]


@pytest.mark.only_on("sqlite")
def test_the_command_says_what_it_did(app: Flask, files: Files, store: BlobStore) -> None:
    store.put(new_key("documents"), b"left behind")
    runner = app.test_cli_runner()
    with later(hours=25):
        dry = runner.invoke(args=["documents", "clean", "--dry-run"])
        assert dry.output == "0 files without a record to remove, 1 noted.\n"
        done = runner.invoke(args=["documents", "clean"])
    assert done.output.splitlines() == [
        "0 documents of the trash removed for good.",
        "0 files without a record removed, 1 noted.",
    ]

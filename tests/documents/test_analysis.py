"""Looking into files: text and pictures are found, and traps cost little and break nothing."""

from __future__ import annotations

import io
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import time_machine
from flask import Flask
from PIL import Image
from sqlalchemy import select
from sqlalchemy.orm import Session
from structlog.testing import capture_logs

from app.documents.analysis import inspect, look_into_files
from app.documents.cleanup import purge_trash
from app.documents.media_types import media_type_of
from app.extensions import Model
from app.jobs import leases
from app.jobs.leases import LoopThreads, StoppingError, running_loops
from tests.contract.conftest import Api
from tests.documents import samples
from tests.documents.conftest import Files
from tests.documents.samples import PICTURES, TEXTS
from tests.documents.sharing.test_shares import BROWSER, share, visit


def found_in(content: bytes, name: str, folder: Path) -> Any:
    path = folder / "file"
    path.write_bytes(content)
    return inspect(path, media_type_of(content[:65_536], name))


@pytest.mark.parametrize("name", TEXTS)
def test_the_text_is_found(tmp_path: Path, name: str) -> None:
    findings = found_in(TEXTS[name], name, tmp_path)
    assert findings.is_whole
    assert samples.WORDS in findings.text
    assert "hidden" not in findings.text


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_of_the_first_page_is_made(tmp_path: Path, name: str) -> None:
    findings = found_in(PICTURES[name], name, tmp_path)
    assert findings.picture is not None
    with Image.open(io.BytesIO(findings.picture)) as image:
        assert image.format == "PNG"
        assert max(image.size) == 800


TRAPS: Mapping[str, Callable[[], bytes]] = {
    "huge.png": samples.huge_png,
    "bomb.docx": samples.zip_bomb,
    "entities.docx": lambda: samples.docx(
        "<w:p>&b;</w:p>", '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>'
    ),
    "outside.docx": lambda: samples.docx(
        "<w:p>&b;</w:p>", '<!DOCTYPE x [<!ENTITY b SYSTEM "file:///etc/passwd">]>'
    ),
    "cut.pdf": lambda: samples.pdf()[:200],
    "cut.docx": lambda: samples.docx()[:100],
    "empty.docx": lambda: samples.archive({"[Content_Types].xml": b"", "word/document.xml": b""}),
    "page.pdf": lambda: samples.pdf().replace(b"/MediaBox [ 0 0 595", b"/MediaBox [ 0 0 999999999"),
}


@pytest.mark.requirement("SEC-75", "SEC-117")
@pytest.mark.parametrize("name", TRAPS)
def test_a_trap_costs_little_and_tells_nothing(tmp_path: Path, name: str) -> None:
    findings = found_in(TRAPS[name](), name, tmp_path)
    assert "root:" not in findings.text
    assert len(findings.text) <= 200_000


@pytest.mark.parametrize("name", ["huge.png", "bomb.docx"])
def test_the_program_that_looks_stays_small(tmp_path: Path, name: str) -> None:
    """Measured by a process that is small itself: a child begins with the size of its parent."""
    content = TRAPS[name]()
    (tmp_path / name).write_bytes(content)
    kind = media_type_of(content[:65_536], name)
    measure = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], capture_output=True);"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN); print(used.ru_maxrss, used.ru_utime)"
    )
    picture = str(tmp_path / "x.png")
    inspect_it = ["-m", "app.documents.inspection", str(tmp_path / name), kind, picture]
    command = [sys.executable, "-c", measure, sys.executable, *inspect_it]
    kilobytes = float(subprocess.check_output(command).split()[0])
    assert kilobytes < 150 * 1024


def look(app: Flask) -> None:
    with app.app_context():
        while look_into_files():
            pass


def states(session: Session) -> list[str]:
    session.rollback()
    contents = Model.metadata.tables["document_contents"]
    return list(session.execute(select(contents.c.state).order_by(contents.c.id)).scalars())


def test_the_worker_makes_a_preview(app: Flask, files: Files, session: Session) -> None:
    key = files.document(samples.pdf(), "turbine.pdf")
    address = f"/api/documents/{key}/preview"
    assert "being made" in files.api.get(address).json["error"]["message"]
    look(app)
    answer = files.api.get(address)
    assert (answer.status_code, answer.mimetype) == (200, "image/png")
    assert answer.data.startswith(b"\x89PNG")
    assert answer.headers["Content-Security-Policy"].startswith("sandbox")
    again = files.api.get(address, headers={"If-None-Match": answer.headers["ETag"]})
    assert again.status_code == 304
    text = files.document()
    look(app)
    assert files.api.get(f"/api/documents/{text}/preview").status_code == 404
    assert states(session) == ["Done", "Done"]


def test_what_fails_is_tried_twice(app: Flask, files: Files, session: Session) -> None:
    files.document(samples.pdf()[:200], "cut.pdf")
    look(app)
    assert states(session) == ["Failed"]


@pytest.fixture
def worker(app: Flask) -> Iterator[LoopThreads]:
    """The threads that may be asked to end; they work on nothing."""
    threads = LoopThreads(app, ())
    running_loops.bind(app, threads)
    yield threads
    running_loops.unbind(app)


def end_programs_by(
    number: signal.Signals, monkeypatch: pytest.MonkeyPatch, then: Callable[[], None] | None = None
) -> None:
    """Let each program end by this signal, and ``then`` happen a moment later."""
    # Whoever runs the tests in the background may ignore an interrupt, and so would the program.
    usual = "" if number == signal.SIGKILL else f"signal.signal({number.value}, signal.SIG_DFL); "
    code = f"import os, signal; {usual}os.kill(os.getpid(), {number.value})"
    ended = [sys.executable, "-c", code]
    run = subprocess.run

    def end(command: list[str], **how: Any) -> Any:
        done = run(ended, **how)
        if then is not None:
            threading.Timer(0.1, then).start()
        return done

    monkeypatch.setattr(subprocess, "run", end)


@pytest.mark.parametrize(
    ("number", "attempts"),
    [(signal.SIGTERM, 0), (signal.SIGINT, 0), (signal.SIGKILL, 1)],
    ids=["told to end", "interrupted", "killed, for its memory"],
)
def test_the_end_of_the_worker_is_no_attempt(
    app: Flask, files: Files, session: Session, monkeypatch: pytest.MonkeyPatch,
    worker: LoopThreads, number: signal.Signals, attempts: int,
) -> None:  # fmt: skip
    """A service manager and a terminal end the programs of the worker along with it."""
    files.document(samples.pdf(), "turbine.pdf")
    end_programs_by(number, monkeypatch, then=worker.ask_to_stop)
    with app.app_context(), capture_logs() as lines, suppress(StoppingError):
        look_into_files()
    contents = Model.metadata.tables["document_contents"]
    row = session.execute(select(contents)).mappings().one()
    assert (row["state"], row["attempts"], row["leased_until"]) == ("Waiting", attempts, None)
    assert [line["problem"] for line in lines] == ["it ended with status -9"] * attempts


def test_a_program_that_is_ended_alone_has_failed(
    app: Flask, files: Files, session: Session, monkeypatch: pytest.MonkeyPatch, worker: LoopThreads
) -> None:
    """As for the memory that its file takes: the worker goes on, and must not try for ever."""
    files.document(samples.pdf(), "turbine.pdf")
    end_programs_by(signal.SIGTERM, monkeypatch)
    with capture_logs() as lines:
        look(app)
    assert [line["problem"] for line in lines] == ["it ended with status -15"] * 2
    assert states(session) == ["Failed"]


def test_what_is_removed_for_good_meanwhile_is_not_opened(
    app: Flask, files: Files, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = files.document(samples.pdf(), "turbine.pdf")
    take = leases.take

    def taken_then_removed(*given: Any, **named: Any) -> Any:
        rows = take(*given, **named)
        if rows:
            files.api.delete(f"/odata/Documents({key})")
            with app.app_context(), time_machine.travel(datetime.now(UTC) + timedelta(days=31)):
                assert purge_trash() == 1
        return rows

    monkeypatch.setattr(leases, "take", taken_then_removed)
    look(app)
    assert states(session) == []


def test_what_is_quarantined_is_not_opened(app: Flask, files: Files, session: Session) -> None:
    trick = files.upload(samples.picture("GIF", (8, 8)) + b"%PDF-1.4", "a.gif").json
    look(app)
    assert (trick["status"], states(session)) == ("Quarantined", ["Waiting"])
    files.api.patch(f"/odata/Documents({trick['id']})", {"status": "Active"})
    look(app)
    assert states(session) == ["Done"]


def search(api: Api, words: str, **query: Any) -> Any:
    answer = api.get("/api/documents/search", query_string={"q": words, **query})
    assert answer.status_code == 200, answer.text
    return answer.json


def test_files_are_found_by_their_text(app: Flask, files: Files) -> None:
    keys = {name: files.document(content, name) for name, content in TEXTS.items()}
    files.document(b"nothing of the kind", "other.txt")
    look(app)
    for words in ("turbine", "TURBINE ubergrosse", "Übergröße", "urbin 4711"):
        found = search(files.api, words)
        assert found["total"] == len(keys), words
        assert {item["id"] for item in found["items"]} == set(keys.values())
    first = search(files.api, "turbine", limit=5, offset=10)
    assert (len(first["items"]), first["total"]) == (2, len(keys))
    item = search(files.api, "ubergrosse")["items"][0]
    assert samples.WORDS in item["snippet"]
    assert item["url"] == f"/odata/Documents({item['id']})"
    assert search(files.api, "turbine missing")["items"] == []


def test_files_are_found_by_their_name_at_once_and_by_the_new_one(app: Flask, files: Files) -> None:
    key = files.document(b"hello", "Jahresabschluss 2025.txt")
    assert [item["id"] for item in search(files.api, "jahresabschluss")["items"]] == [key]
    look(app)
    files.api.patch(f"/odata/Documents({key})", {"name": "Annual report"})
    look(app)
    assert search(files.api, "jahresabschluss")["total"] == 0
    assert [item["id"] for item in search(files.api, "annual hello")["items"]] == [key]


def test_only_the_current_file_is_searched(app: Flask, files: Files) -> None:
    key = files.document(b"the old elephant", "a.txt")
    files.upload(b"the new giraffe", "a.txt", documentId=key)
    look(app)
    assert search(files.api, "elephant")["total"] == 0
    assert search(files.api, "giraffe")["total"] == 1
    files.api.delete(f"/odata/Documents({key})")
    assert search(files.api, "giraffe")["total"] == 0


def test_only_what_the_caller_may_read_is_found(
    app: Flask, files: Files, sign_in: Callable[..., Api]
) -> None:
    files.document(b"the secret zebra", "a.txt")
    role = {"name": "Clerk", "permissions": {"documents:read": "own", "documents:create": "all",
                                             "documents:update": "own"}}  # fmt: skip
    assert files.api.post("/api/admin/roles", role).status_code == 201
    clerk = Files(sign_in("Clerk"))
    own = clerk.document(b"my own zebra", "b.txt")
    look(app)
    assert [item["id"] for item in search(clerk.api, "zebra")["items"]] == [own]
    assert search(clerk.api, "zebra")["total"] == 1
    assert search(files.api, "zebra")["total"] == 2


@pytest.mark.parametrize("words", ["", "ab", "a b c", "!!!", "%%%", "x" * 201])
def test_a_search_needs_a_word(files: Files, words: str) -> None:
    answer = files.api.get("/api/documents/search", query_string={"q": words})
    assert (answer.status_code, answer.json["error"]["details"][0]["field"]) == (400, "q")


@pytest.mark.parametrize(
    "words", ['"turbine" OR', "tur*", "NEAR(a b)", "100% _under_", "turb'in\"e"]
)
def test_signs_of_a_search_mean_nothing(files: Files, words: str) -> None:
    files.document(b"turbine", "a.txt")
    assert search(files.api, words)["total"] in (0, 1)


def test_the_page_of_a_link_shows_who_sent_it_and_what_it_is(app: Flask, files: Files) -> None:
    key = files.document(samples.pdf(), "turbine.pdf")
    look(app)
    files.api.patch("/api/admin/settings", {"seller": {"name": "My Company"}})
    page = visit(files, share(files, key), **BROWSER).text
    assert ", My Company shared this file with you." in page
    assert 'src="data:image/png;base64,iVBOR' in page
    # Seen without a download, it would not be counted.
    assert "data:image" not in visit(files, share(files, key, maxDownloads=1), **BROWSER).text
    assert (
        "data:image" not in visit(files, share(files, key, password="a long one"), **BROWSER).text
    )

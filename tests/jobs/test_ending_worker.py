"""A worker that is asked to end gives back what it has in hand: the next one goes on at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import randrange
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.bi.exports.jobs import run_exports
from app.bi.exports.mailing import send_due_reports
from app.clock import utc_now
from app.db.engines import transaction
from app.documents import analysis, cleanup
from app.documents.analysis import look_into_files
from app.extensions import Model
from app.http.security import acting_as, system_caller
from app.importing import jobs, submission
from app.importing.jobs import run_imports
from app.jobs.leases import Loop, LoopThreads, StoppingError, leave_if_stopping, running_loops
from app.jobs.schedule import BATCH, for_each_due, remove_expired
from app.kb.indexing import index_articles
from app.mail import delivery
from app.models.client import Client
from app.models.event import IdempotencyRecord
from app.models.import_job import ImportJob
from app.models.kb_article import KbArticle
from app.models.report import ReportExport, SavedReport
from app.models.search import SearchEntry
from app.search.embedding import EmbeddingModel
from tests.bi.conftest import business
from tests.contract.conftest import Api, admin, sign_in
from tests.documents.conftest import Files
from tests.factories import make_client, put_row, rows
from tests.importing.test_jobs import ROWS, progress, send
from tests.jobs.test_schedule import add, keyed
from tests.mail.conftest import Post, post
from tests.mail.servers import Mailbox, mail_server, server_at

__all__ = ["admin", "business", "post", "sign_in"]
Ask = Callable[[], None]


@pytest.fixture
def ask_to_stop(app: Flask) -> Iterator[Ask]:
    """Ask the worker of ``app`` to end; the next one, of the same test, is not asked."""
    threads = LoopThreads(app, ())
    running_loops.bind(app, threads)
    yield threads.ask_to_stop
    running_loops.unbind(app)


@contextmanager
def next_worker(app: Flask) -> Iterator[None]:
    """Within it nobody is asked to end."""
    running_loops.unbind(app)
    with app.app_context():
        yield


def after(function: Callable[..., Any], ask: Ask, calls: int = 1) -> Callable[..., Any]:
    """``function``, and the worker is asked to end after this many calls of it."""
    count = 0

    def called(*given: Any, **named: Any) -> Any:
        nonlocal count
        answer = function(*given, **named)
        count += 1
        if count == calls:
            ask()
        return answer

    return called


@pytest.mark.only_on("sqlite")
def test_what_leaves_its_work_to_another_has_not_failed(
    app: Flask, capsys: pytest.CaptureFixture[str]
) -> None:
    def work() -> int:
        threads.ask_to_stop()
        leave_if_stopping()
        raise AssertionError

    threads = LoopThreads(app, [Loop("work", work)])
    threads.start()
    try:
        assert threads.join(30) == []
    finally:
        running_loops.unbind(app)
    told = capsys.readouterr()
    assert "failed" not in told.out + told.err


@pytest.mark.requirement("OPS-10")
def test_an_export_is_begun_again_and_has_all_its_attempts(
    app: Flask, admin: Api, business: None, ask_to_stop: Ask
) -> None:
    made = admin.post("/api/bi/reports/1/export", {"format": "csv", "background": True}).json
    ask_to_stop()
    with app.app_context():
        for _ in range(3):
            with pytest.raises(StoppingError):
                run_exports()
        (row,) = rows(ReportExport)
    assert (row["status"], row["attempts"], row["leased_until"]) == ("queued", 0, None)
    with next_worker(app):
        assert run_exports() == 1
    assert admin.get(made["url"]).json["status"] == "done"


@pytest.mark.requirement("OPS-10")
def test_a_report_by_mail_is_sent_by_the_next_one(
    app: Flask, admin: Api, business: None, ask_to_stop: Ask
) -> None:
    report = {"name": "Tickets", "odata": "/odata/Tickets?$select=subject"}
    answer = admin.post("/api/bi/reports", report)
    assert answer.status_code == 201, answer.text
    schedule = {"every": "daily", "to": ["a@acme.example"], "format": "csv"}
    changed = admin.put(f"/api/bi/reports/{answer.json['id']}/schedule", schedule)
    assert changed.status_code == 200, changed.text
    with app.app_context(), transaction():
        (saved,) = rows(SavedReport)
        put_row(SavedReport, saved["id"], next_run_at=utc_now())
    ask_to_stop()
    with app.app_context(), pytest.raises(StoppingError):
        send_due_reports()
    with next_worker(app):
        assert send_due_reports() == 1
        assert send_due_reports() == 0


@pytest.mark.requirement("OPS-10")
@pytest.mark.parametrize(
    ("mode", "status"),
    [("skipBad", "Writing"), ("allOrNothing", "Checking"), ("allOrNothing", "Writing")],
)
def test_an_import_goes_on_where_it_was(
    app: Flask, admin: Api, session: Session, ask_to_stop: Ask, mode: str, status: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(submission, "MOST_AT_ONCE", 20)
    monkeypatch.setattr("app.importing.rows.CHUNK", 20)
    job_id = send(admin, mode=mode).json["id"]
    keep = jobs.RunningImport.write_row

    def ask_at_status(self: Any, *lease: Any, **values: Any) -> None:
        keep(self, *lease, **values)
        if values.get("status") == status:
            ask_to_stop()

    with monkeypatch.context() as patched, app.app_context():
        patched.setattr(jobs.RunningImport, "write_row", ask_at_status)
        with pytest.raises(StoppingError):
            run_imports()
    assert session.scalars(select(ImportJob.leased_until)).all() == [None]
    count = select(func.count()).select_from(Client)
    assert (session.scalar(count) or 0) < ROWS
    with next_worker(app):
        assert run_imports() == 1
    session.rollback()
    done = progress(admin, job_id)
    assert (done["status"], done["outcome"]["created"]) == ("Completed", ROWS)
    assert session.scalar(count) == ROWS


@pytest.mark.requirement("OPS-10")
def test_a_long_article_is_left_in_the_middle(
    app: Flask, admin: Api, session: Session, ask_to_stop: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = randrange(10**6)  # on each database others: a run embeds a text once
    body = " ".join(map(str, range(first, first + 2000)))
    article = {"title": "Long", "body": body, "status": "Published"}
    assert admin.post("/odata/KbArticles", article).status_code == 201
    computed: list[int] = []
    run = after(EmbeddingModel.vector_of, ask_to_stop, calls=2)
    with monkeypatch.context() as patched, app.app_context():
        patched.setattr(
            EmbeddingModel, "vector_of", lambda *given: [computed.append(1), run(*given)].pop()
        )
        with pytest.raises(StoppingError):
            index_articles()
    assert len(computed) == 2
    assert session.scalars(select(KbArticle.indexed_at)).all() == [None]
    assert session.scalars(select(SearchEntry.id)).all() == []
    with next_worker(app):
        assert index_articles() == 1


@pytest.mark.requirement("OPS-10")
def test_files_that_were_taken_are_free_for_another(
    app: Flask, admin: Api, session: Session, ask_to_stop: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        Files(admin).document(b"text of a file", f"{number}.txt")
    with monkeypatch.context() as patched, app.app_context():
        patched.setattr(analysis, "look_into", after(analysis.look_into, ask_to_stop))
        look_into_files()
    contents = Model.metadata.tables["document_contents"]
    shown = select(contents.c.state, contents.c.attempts, contents.c.leased_until)
    states = session.execute(shown.order_by(contents.c.id)).all()
    assert states == [("Done", 1, None), ("Waiting", 0, None), ("Waiting", 0, None)]
    session.rollback()
    with next_worker(app):
        look_into_files()
    assert {row.state for row in session.execute(shown)} == {"Done"}


@pytest.mark.requirement("OPS-10")
def test_mails_that_were_taken_are_free_for_another(
    app: Flask, post: Post, ask_to_stop: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = [post.queue() for _ in range(3)]
    mailbox = Mailbox()
    with mail_server(mailbox) as port:
        with monkeypatch.context() as patched:
            patched.setattr(delivery, "note_sent", after(delivery.note_sent, ask_to_stop))
            post.deliver(server_at(port))
        mails = [post.row(key) for key in keys]
        assert sorted((row["status"], row["attempts"], row["leased_until"]) for row in mails) == [
            ("queued", 0, None), ("queued", 0, None), ("sent", 1, None),
        ]  # fmt: skip
        with next_worker(app):
            post.deliver(server_at(port))
    assert len(mailbox.messages) == 3
    assert {post.row(key)["status"] for key in keys} == {"sent"}


def test_a_sweep_ends_between_two_records(
    app: Flask, session: Session, ask_to_stop: Ask, unit_of_work: Callable[..., Any]
) -> None:
    with unit_of_work(), acting_as(system_caller("test")):
        keys = [make_client(), make_client(), make_client()]
    swept: list[int] = []

    def step(key: int) -> bool:
        swept.append(key)
        ask_to_stop()
        return True

    with app.app_context():
        assert for_each_due("test", select(Client.id), step) == 1
        assert swept == keys[:1]


def test_rows_that_have_served_their_time_go_until_the_end(
    app: Flask, session: Session, ask_to_stop: Ask
) -> None:
    old = [keyed(number, expires_at=utc_now()) for number in range(BATCH + 1)]
    add(app, IdempotencyRecord, *old)
    ask_to_stop()
    with app.app_context():
        assert remove_expired() == BATCH
    assert session.scalar(select(func.count()).select_from(IdempotencyRecord)) == 1


def test_the_trash_is_emptied_until_the_end(
    app: Flask, ask_to_stop: Ask, monkeypatch: pytest.MonkeyPatch, admin: Api
) -> None:
    for number in range(2):
        key = Files(admin).document(b"text of a file", f"{number}.txt")
        admin.delete(f"/odata/Documents({key})")
    monkeypatch.setattr(cleanup, "TRASH_DAYS", -1)
    with monkeypatch.context() as patched, app.app_context():
        patched.setattr(cleanup, "purge", after(cleanup.purge, ask_to_stop))
        assert cleanup.purge_trash() == 1
    with next_worker(app):
        assert cleanup.purge_trash() == 1

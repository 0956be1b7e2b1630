"""Small writes of one process share a commit, and nothing else."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import Engine, create_engine, event, make_url, text
from sqlalchemy.exc import IntegrityError, OperationalError

from app import shared_commit
from app.engines import sqlite, turns
from app.engines.sharing import SharedConnection
from app.shared_commit import await_commit, forget_share, share_commit
from tests.waiting import until


class Writers:
    """Transactions in threads of their own, each held until it is told to end."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._threads = ThreadPoolExecutor(8)
        self._held: dict[str, threading.Event] = {}
        self.begun: list[str] = []

    def start(
        self, name: str, *, shares: bool = True, fails: bool = False, sql: str = ""
    ) -> Future[None]:
        """Write ``name`` into the table, in a transaction that ``end`` ends."""
        self._held[name] = threading.Event()
        return self._threads.submit(self._write, name, shares, fails, sql)

    def queue(self, name: str, **options: bool | str) -> Future[None]:
        """Start a writer who has to wait; returns when it does."""
        before = self.waiting()
        future = self.start(name, **options)  # type: ignore[arg-type]
        until(lambda: self.waiting() == before + 1)
        return future

    def end(self, name: str) -> None:
        self._held[name].set()

    def rows(self) -> list[str]:
        """What another connection sees."""
        other = create_engine(self.engine.url)
        with other.connect() as connection:
            found = [row[0] for row in connection.execute(text("SELECT name FROM t ORDER BY name"))]
        other.dispose()
        return found

    def waiting(self) -> int:
        """How many wait for their turn."""
        return len(self.engine.pool._turns._waiting)  # type: ignore[attr-defined]

    def _write(self, name: str, shares: bool, fails: bool, sql: str) -> None:
        if shares:
            share_commit()
        try:
            with self.engine.connect() as connection:
                transaction = connection.begin()
                connection.execute(text("INSERT INTO t VALUES (:name)"), {"name": name})
                if sql:
                    connection.execute(text(sql))
                self.begun.append(name)
                assert self._held[name].wait(10)
                if fails:
                    transaction.rollback()
                else:
                    transaction.commit()
            await_commit()
        finally:
            forget_share()


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with much to do is not to decide what is shared."""
    monkeypatch.setattr(shared_commit, "LONGEST_SECONDS", 60.0)


@pytest.fixture
def writers(tmp_path: Path) -> Iterator[Writers]:
    url = make_url(f"sqlite:///{tmp_path / 'a.db'}")
    engine = create_engine(**sqlite.options(url, reading=False))
    sqlite.listen(engine, reading=False)
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE t (name TEXT UNIQUE)"))
    yield Writers(engine)
    engine.dispose()


@pytest.fixture
def commits(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A line for every commit that SQLite did."""
    done: list[str] = []
    original = SharedConnection.settle

    def settle(connection: SharedConnection) -> object:
        if connection.batch is not None:
            done.append("shared")
        return original(connection)

    monkeypatch.setattr(SharedConnection, "settle", settle)
    return done


def test_those_who_wait_are_committed_with_the_one_before(
    writers: Writers, commits: list[str]
) -> None:
    first = writers.start("a")
    until(lambda: "a" in writers.begun)
    second, third = writers.queue("b"), writers.queue("c")
    writers.end("a")
    until(lambda: "b" in writers.begun)
    assert not first.done()  # no answer before it is durable
    assert writers.rows() == []
    writers.end("b")
    writers.end("c")
    for future in (first, second, third):
        future.result(10)
    assert writers.rows() == ["a", "b", "c"]
    assert commits == ["shared"]


def test_who_came_in_company_waits_for_as_many_and_no_more(
    writers: Writers, commits: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns, "PATIENCE_SECONDS", 60.0)
    pair = [writers.start("a")]
    until(lambda: writers.begun == ["a"])
    pair.append(writers.queue("b"))
    for name in "ab":
        writers.end(name)
    for future in pair:
        future.result(10)
    commits.clear()
    first = writers.start("c")
    until(lambda: "c" in writers.begun)
    writers.end("c")
    second = writers.start("d")
    until(lambda: "d" in writers.begun)
    writers.end("d")
    for future in (first, second):
        future.result(10)  # a third would be awaited for a minute
    assert commits == ["shared"]
    assert writers.rows() == ["a", "b", "c", "d"]


def test_who_is_undone_leaves_the_others_as_they_are(writers: Writers) -> None:
    first = writers.start("a")
    until(lambda: "a" in writers.begun)
    second, third = writers.queue("b", fails=True), writers.queue("c")
    for name in "abc":
        writers.end(name)
    for future in (first, second, third):
        future.result(10)
    assert writers.rows() == ["a", "c"]


def test_the_first_can_be_undone_too(writers: Writers) -> None:
    first = writers.start("a", fails=True)
    until(lambda: "a" in writers.begun)
    second = writers.queue("b")
    for name in "ab":
        writers.end(name)
    first.result(10)
    second.result(10)
    assert writers.rows() == ["b"]


def test_nobody_waits_for_one_who_does_not_share(writers: Writers) -> None:
    first = writers.start("a")
    until(lambda: "a" in writers.begun)
    second = writers.queue("b", shares=False)
    writers.end("a")
    first.result(10)
    assert writers.rows() == ["a"]
    writers.end("b")
    second.result(10)
    assert writers.rows() == ["a", "b"]


def test_one_who_does_not_share_is_committed_at_once(writers: Writers) -> None:
    first = writers.start("a", shares=False)
    until(lambda: "a" in writers.begun)
    second = writers.queue("b")
    writers.end("a")
    first.result(10)
    assert writers.rows() == ["a"]
    writers.end("b")
    second.result(10)


def test_what_sqlite_undoes_by_itself_is_told_to_all(writers: Writers) -> None:
    """An error may end the whole transaction: nobody may be told that a row stands."""
    first = writers.start("a")
    until(lambda: "a" in writers.begun)
    second = writers.queue("b", sql="INSERT OR ROLLBACK INTO t VALUES ('b')")
    third = writers.queue("c")
    for name in "abc":
        writers.end(name)
    with pytest.raises(IntegrityError):
        second.result(10)
    with pytest.raises(OperationalError, match="undone"):
        first.result(10)
    third.result(10)
    assert writers.rows() == ["c"]


def test_a_full_disk_is_told_as_it_is(writers: Writers) -> None:
    first = writers.start("a", sql="PRAGMA max_page_count = 8")
    until(lambda: "a" in writers.begun)
    second = writers.queue("b", sql="INSERT INTO t VALUES (hex(randomblob(90000)))")
    third = writers.queue("c")
    for name in "abc":
        writers.end(name)
    with pytest.raises(OperationalError, match="full"):
        second.result(10)
    refused = first.exception(10)  # SQLite may have undone all of it
    third.result(10)
    assert writers.rows() == (["a", "c"] if refused is None else ["c"])


def test_a_connection_that_breaks_takes_nobody_along_unseen(writers: Writers) -> None:
    first = writers.start("a")
    until(lambda: "a" in writers.begun)

    def break_it() -> None:
        share_commit()
        with writers.engine.connect() as connection:
            connection.begin()
            connection.invalidate()
        forget_share()

    thread = threading.Thread(target=break_it)
    thread.start()
    until(lambda: writers.waiting() == 1)
    writers.end("a")
    thread.join(10)
    with pytest.raises(OperationalError, match="undone"):
        first.result(10)
    assert writers.rows() == []


def test_many_at_once_stand_with_few_commits(writers: Writers, commits: list[str]) -> None:
    futures = [writers.start(f"{number:02}") for number in range(8)]
    for number in range(8):
        writers.end(f"{number:02}")
    for future in futures:
        future.result(20)
    assert writers.rows() == [f"{number:02}" for number in range(8)]
    assert len(commits) <= 8


def test_the_events_of_the_engine_are_told_as_ever(writers: Writers) -> None:
    told: list[str] = []
    handlers: dict[str, Callable[..., None]] = {
        "commit": lambda connection: told.append("commit"),
        "rollback": lambda connection: told.append("rollback"),
    }
    for name, handler in handlers.items():
        event.listen(writers.engine, name, handler)
    writers.start("a")
    writers.end("a")
    last = writers.start("b", fails=True)
    writers.end("b")
    last.result(10)
    until(lambda: sorted(told) == ["commit", "rollback"])

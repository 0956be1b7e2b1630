"""The processes of a reload: one generation leaves when the next can answer."""

from __future__ import annotations

import os
import threading
import time

import pytest

from app.http import succession
from app.http.succession import Succession


def in_a_process(shared: Succession, age: int) -> None:
    """A process of its own notes that it is ready, and ends."""
    if process := os.fork():
        assert os.waitpid(process, 0)[1] == 0
        return
    shared.note_ready(age)
    os._exit(0)


def test_processes_that_are_ready_are_counted_together_and_anew_for_each_generation() -> None:
    shared = Succession()
    assert (shared.generation, shared.ready) == (0, 0)
    for age in (1, 2, 2):  # one notes it twice
        in_a_process(shared, age)
    assert (shared.generation, shared.ready) == (0, 2)
    shared.begin()
    assert (shared.generation, shared.ready) == (1, 0)
    in_a_process(shared, 3)
    assert (shared.generation, shared.ready) == (1, 1)


def test_whoever_has_no_successors_waits_for_none() -> None:
    began = time.monotonic()
    Succession().await_ready(0, 4)
    assert time.monotonic() - began < succession.LOOK_SECONDS


def test_a_process_leaves_when_as_many_successors_are_ready(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(succession, "LOOK_SECONDS", 0.01)
    shared = Succession()
    shared.begin()
    leaving = threading.Thread(target=shared.await_ready, args=(0, 2), daemon=True)
    leaving.start()
    in_a_process(shared, 1)
    leaving.join(0.1)
    assert leaving.is_alive()
    in_a_process(shared, 2)
    leaving.join(5)
    assert not leaving.is_alive()


def test_successors_that_never_get_ready_are_not_waited_for_without_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(succession, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(succession, "SUCCESSION_SECONDS", 0.05)
    shared = Succession()
    shared.begin()
    began = time.monotonic()
    shared.await_ready(0, 1)
    assert 0.05 <= time.monotonic() - began < 2

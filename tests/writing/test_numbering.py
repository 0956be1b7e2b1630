"""Running numbers: consecutive, without gaps, whoever asks at the same time."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import Any

import pytest
from sqlalchemy.orm import Session

from app.writing.numbering import document_number, next_number, running_number

UnitOfWork = Callable[[], AbstractContextManager[Session]]


def test_numbers_run_from_one(unit_of_work: UnitOfWork) -> None:
    with unit_of_work():
        assert [next_number("a"), next_number("a"), next_number("b")] == [1, 2, 1]
        assert running_number("C") == "C-000001"
        assert document_number("INV", 2026) == "INV-2026-00001"
        assert document_number("INV", 2026) == "INV-2026-00002"
        assert document_number("INV", 2027) == "INV-2027-00001"
        assert document_number("EXP", 2026) == "EXP-2026-00001"


def test_a_failed_transaction_gives_its_number_back(unit_of_work: UnitOfWork) -> None:
    with unit_of_work():
        next_number("a")
    with pytest.raises(RuntimeError), unit_of_work():
        assert next_number("a") == 2
        raise RuntimeError
    with unit_of_work():
        assert next_number("a") == 2


def test_threads_get_consecutive_numbers(unit_of_work: UnitOfWork) -> None:
    begin = threading.Barrier(4)

    def take(worker: int) -> list[int]:
        begin.wait()
        taken = []
        for round_ in range(10):
            try:
                with unit_of_work():
                    taken.append(next_number("a"))
                    if (worker + round_) % 5 == 0:
                        raise RuntimeError
            except RuntimeError:
                taken.pop()
        return taken

    with ThreadPoolExecutor(4) as pool:
        taken: list[Any] = [number for part in pool.map(take, range(4)) for number in part]
    assert sorted(taken) == list(range(1, len(taken) + 1))
    assert len(taken) == 32

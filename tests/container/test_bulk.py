"""A run over many records: within its limits, its owner's alone, and gone after its time."""

from __future__ import annotations

from datetime import timedelta

import pytest
from flask import Flask

from app.clock import utc_now
from app.container import bulk
from app.db.engines import transaction
from app.errors import NotFoundError, ValidationError
from app.http.security import Caller, acting_as
from app.models.bulk_run import BulkItem, BulkRun
from tests.factories import make_ticket, make_user, put_row, rows, stored

TAG = {"name": "tag", "value": "vip"}


@pytest.fixture
def people(app: Flask) -> tuple[Caller, Caller]:
    with app.app_context(), transaction():
        return make_user("Support"), make_user("Support")


@pytest.mark.parametrize("count", [0, bulk.MOST + 1])
def test_a_run_has_some_records_and_not_too_many(
    app: Flask, people: tuple[Caller, Caller], count: int
) -> None:
    with app.app_context(), acting_as(people[0]), pytest.raises(ValidationError) as caught:
        bulk.start_run("Ticket", range(count), TAG)
    assert [detail.field for detail in caught.value.details] == ["keys"]


def test_each_record_is_changed_once_however_often_it_is_named(
    app: Flask, people: tuple[Caller, Caller]
) -> None:
    anna, other = people
    with app.app_context(), acting_as(anna):
        with transaction():
            keys = [make_ticket() for _ in range(2)]
        with transaction():
            run_id = bulk.start_run("Ticket", [*keys, keys[0], 987_654], TAG)
        with transaction():
            run = bulk.get_run(run_id)
            assert (run["total"], run["counts"]) == (3, {"done": 2, "failed": 1})
            assert [stored("Ticket", key)["tags"] for key in keys] == [["vip"]] * 2
            (failed,) = bulk.items_of(run_id, "failed", 10)
            assert failed["record_id"] == 987_654 and failed["error"]
            assert bulk.can_undo(run)
        with acting_as(other), pytest.raises(NotFoundError):
            bulk.get_run(run_id)
        with transaction():
            undo_id = bulk.undo_run(run_id)
        with transaction():
            assert [stored("Ticket", key)["tags"] or [] for key in keys] == [[], []]
            assert not bulk.can_undo(bulk.get_run(run_id))
            assert not bulk.can_undo(bulk.get_run(undo_id))


def test_runs_are_kept_for_a_while_with_their_lines(
    app: Flask, people: tuple[Caller, Caller]
) -> None:
    with app.app_context(), acting_as(people[0]):
        with transaction():
            key = make_ticket()
        runs = []
        for _ in range(2):
            with transaction():
                runs.append(bulk.start_run("Ticket", [key], TAG))
        old, kept = runs
        with transaction():
            put_row(BulkRun, old, finished_at=utc_now() - bulk.KEPT - timedelta(minutes=1))
        assert (bulk.tidy_runs(), bulk.tidy_runs()) == (1, 0)
        with transaction():
            assert [run["id"] for run in rows(BulkRun)] == [kept]
            assert [item["run_id"] for item in rows(BulkItem)] == [kept]

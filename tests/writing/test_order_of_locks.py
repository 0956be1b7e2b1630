"""Who ends a record and who changes what refers to it lock both in one order."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from flask import Flask
from sqlalchemy import text

from app.crm.clients import CLIENTS
from app.crm.merging import merge_clients
from app.db import records
from app.db.engines import transaction
from app.errors import ApiError
from app.http.security import acting_as, current_caller, system_caller
from app.writing.deletion import services
from tests.business import bind_services
from tests.factories import (
    make_client,
    make_contact,
    make_invoice,
    make_project,
    make_task,
    make_ticket,
    update,
)
from tests.waiting import until

# SQLite has one writer at a time anyway.
pytestmark = pytest.mark.only_on("postgresql")

_WAITING = text(
    "SELECT count(*) FROM pg_locks WHERE NOT granted AND pid IN (SELECT pid FROM pg_locks"
    " JOIN pg_database ON pg_database.oid = database AND datname = current_database())"
)


def merge(client: int) -> object:
    """Merge a client into a new one."""
    return merge_clients(make_client(), client)


CASES: dict[str, tuple[Callable[[], int], Callable[[int], int], Callable[[int], object]]] = {
    "Invoice of Client, deleted": (
        make_client, lambda key: make_invoice(client_id=key), lambda key: CLIENTS.delete(key),
    ),
    "Invoice of Client, merged": (
        make_client, lambda key: make_invoice(client_id=key), merge,
    ),
    "Ticket of Client, merged": (
        make_client, lambda key: make_ticket(client_id=key), merge,
    ),
    "Contact of Client, deleted": (
        make_client, lambda key: make_contact(client_id=key), lambda key: CLIENTS.delete(key),
    ),
    "Task of Project, deleted": (
        make_project, lambda key: make_task(project_id=key),
        lambda key: services.current["Project"].delete(key),
    ),
    "Task of Client, deleted": (
        make_client, lambda key: make_task(related_type="Client", related_id=key),
        lambda key: CLIENTS.delete(key),
    ),
}  # fmt: skip


def cross(first: int, second: int) -> tuple[Callable[[], object], Callable[[], object]]:
    """Two clients exchange their main contacts."""
    one, other = (make_contact(client_id=key, is_primary=True) for key in (first, second))
    return (
        lambda: update("Contact", one, client_id=second),
        lambda: update("Contact", other, client_id=first),
    )


def replace_and_end(first: int, second: int) -> tuple[Callable[[], object], Callable[[], object]]:
    """A client gets a new main contact while it is merged into another."""
    make_contact(client_id=first, is_primary=True)
    return (
        lambda: make_contact(client_id=first, is_primary=True),
        lambda: merge_clients(second, first),
    )


def promote_and_end(first: int, second: int) -> tuple[Callable[[], object], Callable[[], object]]:
    """Another contact becomes the main one of a client while it is merged."""
    make_contact(client_id=first, is_primary=True)
    other = make_contact(client_id=first)
    return (
        lambda: update("Contact", other, is_primary=True),
        lambda: merge_clients(second, first),
    )


@pytest.mark.parametrize("case", [cross, replace_and_end, promote_and_end])
def test_main_contacts_are_locked_in_one_order_and_before_their_clients(
    app: Flask, case: Callable[[int, int], tuple[Callable[[], object], Callable[[], object]]]
) -> None:
    """Both wait at the clients, with whatever they have locked by then, until both may go on."""
    bind_services(app)
    with app.app_context(), acting_as(system_caller()), transaction():
        clients = (make_client(), make_client())
        works = case(*clients)

    def run(work: Callable[[], object]) -> None:
        with app.app_context(), acting_as(system_caller()), transaction():
            work()

    with ThreadPoolExecutor(2) as pool:
        with app.app_context(), acting_as(system_caller()), transaction():
            for key in clients:
                services.current["Client"].locked(key, current_caller())
            running = []
            for work in works:
                running.append(pool.submit(run, work))
                until(lambda: records.connection().execute(_WAITING).scalar() == len(running))
        outcomes = [each.exception(30) for each in running]
    assert [error for error in outcomes if not isinstance(error, ApiError | None)] == []


@pytest.mark.parametrize("case", CASES)
def test_what_refers_to_a_record_is_locked_before_it(app: Flask, case: str) -> None:
    bind_services(app)
    make, refer, end = CASES[case]
    dependent_name, _, name = case.partition(",")[0].partition(" of ")
    with app.app_context(), acting_as(system_caller()), transaction():
        key = make()
        dependent = refer(key)

    def run() -> None:
        with app.app_context(), acting_as(system_caller()), transaction():
            end(key)

    with ThreadPoolExecutor(1) as pool:
        with app.app_context(), acting_as(system_caller()), transaction():
            services.current[dependent_name].locked(dependent, current_caller())
            ending = pool.submit(run)
            until(lambda: records.connection().execute(_WAITING).scalar())
            # As a payment goes on to its client, and a task to its project.
            services.current[name].locked(key, current_caller())
        ending.result(30)

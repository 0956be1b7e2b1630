"""``$search`` finds a record by the texts of those it refers to, and only what may be read."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from flask import Flask

from app.container.engine import read_many
from app.db.engines import transaction
from app.http.security import acting_as, make_caller, system_caller
from tests.factories import create, make_client, make_user


@pytest.fixture
def tickets(app: Flask) -> Iterator[list[int]]:
    """A ticket of Polaris, one of Vega, and one of nobody that says Polaris itself."""
    with app.app_context(), transaction(), acting_as(system_caller("test")):
        keys = [
            create("Ticket", {"subject": subject, "client_id": client, "channel": "Web",
                              "requester_email": "a@example.com"})
            for subject, client in (
                ("Printer", make_client(name="Pólaris Optik")),
                ("Printer", make_client(name="Vega")),
                ("About Polaris", None),
            )
        ]  # fmt: skip
    with app.app_context():
        yield keys


@pytest.mark.parametrize(
    ("search", "places"),
    [
        ("polaris", [0, 2]), ("polaris printer", [0]), ("NOT polaris", [1]),
        ("vega OR about", [1, 2]), ('"polaris opt"', [0]), ("ve", [1]), ("nobody", []),
    ],
)  # fmt: skip
def test_the_client_of_a_ticket_counts(tickets: list[int], search: str, places: list[int]) -> None:
    with transaction():
        caller = make_user("Support")
    with acting_as(caller):
        rows = read_many("Tickets", search=search, orderby="id", select="id")
    assert [row["id"] for row in rows] == [tickets[index] for index in places]


def test_what_may_not_be_read_finds_nothing(tickets: list[int]) -> None:
    with transaction():
        user = make_user("Support")
    desk = make_caller(user.user_id, "desk", "jwt", {"tickets:read": "all"}, roles=("Desk",))
    with acting_as(desk):
        rows = read_many("Tickets", search="polaris", select="id")
    assert [row["id"] for row in rows] == [tickets[2]]

"""What the operations on tickets answer."""

from __future__ import annotations

import pytest

from app.errors import NotFoundError
from app.http.security import Caller
from app.tickets.comments import NewComment, create_comment
from app.tickets.merging import merge_tickets
from app.tickets.operations import (
    describe_comment,
    describe_ticket,
    describe_ticket_merge,
    describe_trial,
)
from tests.factories import make_ticket, put


def test_a_comment_shows_the_standing_of_its_ticket(admin: Caller) -> None:
    key = make_ticket()
    comment = describe_comment(create_comment(key, body="We look at it"))
    assert (comment["ticketId"], comment["body"], comment["isInternal"]) == (
        key, "We look at it", False,
    )  # fmt: skip
    assert comment["ticket"] == describe_ticket(key)
    assert comment["ticket"]["status"] == "Open"


@pytest.mark.parametrize("status", ["Open", "Closed"])
def test_a_trial_tells_the_key_of_the_ticket_unless_it_would_be_new(
    admin: Caller, status: str
) -> None:
    key = make_ticket(assignee_id=admin.user_id)
    put("Ticket", key, status=status)
    comment = describe_trial(create_comment(key, body="Again", by_customer=True))
    told = None if status == "Closed" else key
    assert (comment["ticketId"], comment["ticket"]["id"]) == (told, told)
    assert comment["ticket"]["status"] == "Open"


def test_there_is_no_such_comment(admin: Caller) -> None:
    with pytest.raises(NotFoundError):
        describe_comment(NewComment(987))


def test_a_merge_shows_both_tickets_and_what_moved(admin: Caller) -> None:
    source, target = make_ticket(), make_ticket()
    create_comment(source, body="Broken")
    answer = describe_ticket_merge(merge_tickets(source, target_id=target))
    assert answer["source"]["mergedIntoId"] == target
    assert answer["target"]["id"] == target
    assert answer["moved"]["comments"] >= 1

"""Messages of the service on a page."""

from __future__ import annotations

from app.console.service_messages import said


def test_a_message_is_told_as_it_is_where_no_page_is_made() -> None:
    assert said("There is no such page.") == "There is no such page."
    assert said("") == ""

"""An operation calls the function of its service, by name or with one value."""

from __future__ import annotations

from typing import Any

from app.container.bulk import UNDONE_BY_UPDATE
from app.container.declared import DECLARED
from app.operations.declaration import Operation


def operation(run: Any, description: str = "Do it.") -> Operation:
    return Operation(name="Do", run=run, permissions=(), description=description)


def test_arguments_go_by_name_and_the_key_is_the_result_of_what_returns_nothing() -> None:
    calls: list[object] = []

    def run(key: int, **arguments: Any) -> None:
        calls.append((key, arguments))

    assert operation(run).call(5, {"reason": "x"}) == 5
    assert calls == [(5, {"reason": "x"})]


def test_what_is_no_mapping_goes_as_one_value() -> None:
    assert operation(lambda *read: read).call(None, "letter") == ("letter",)
    assert operation(lambda *read: read).call(5, "letter") == (5, "letter")


def test_the_summary_is_the_first_paragraph_in_one_line() -> None:
    text = "Make it `Paid`\n    at once.\n\n    More is told here."
    assert operation(int, text).summary == "Make it Paid at once."


def test_the_view_has_the_name_of_the_service_function() -> None:
    names = [each.run.__name__ for each in DECLARED if each.path is not None]
    assert names and not [name for name in names if name.startswith("_") or name == "<lambda>"]


def test_what_many_records_may_take_needs_no_arguments_and_is_no_change_of_properties() -> None:
    buttons = [(each, each.button) for each in DECLARED if each.button is not None]
    of_many = [operation for operation, button in buttons if button.of_many]
    assert of_many
    for operation in of_many:
        operation.load({})
        assert operation.action not in ("me", "assign", "status", *UNDONE_BY_UPDATE, "undo")

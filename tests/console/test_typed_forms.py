"""What was typed, carried through the page of signing in."""

from __future__ import annotations

from app.console.session import is_form, packed, unpacked


def test_fields_come_back_as_they_were_and_nonsense_is_none() -> None:
    fields = [("name", "<b>"), ("tag", "a"), ("tag", "b")]
    assert unpacked(packed(fields)) == fields
    assert unpacked("nonsense") == unpacked("") == unpacked("[1]") == []
    assert is_form("/admin/clients/new") and not is_form("/admin/tickets/1")

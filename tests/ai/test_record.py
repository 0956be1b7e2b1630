"""What is told of a record is there to be told."""

from __future__ import annotations

import re

import pytest
from flask import Flask

from app.ai.record import PROFILES, wants_summary
from app.container.model import container


@pytest.mark.parametrize("entity", PROFILES)
def test_a_profile_names_properties_of_its_type(app: Flask, entity: str) -> None:
    profile = PROFILES[entity]
    type_ = container().set_of_type[entity].type
    names = {*type_.properties, *type_.navigation}
    assert {name for fact in profile.facts for name in re.findall(r"{(\w+)}", fact)} <= names
    assert {each.navigation for each in profile.listings} <= names


@pytest.mark.parametrize(
    ("text", "is_summary"),
    [
        ("Summarise this", True), ("What's open?", True), ("Who is that?", True),
        ("What is the total?", False), ("When is it due?", False),
    ],
)  # fmt: skip
def test_a_summary_is_asked_for_in_words(app: Flask, text: str, is_summary: bool) -> None:
    assert wants_summary(text) is is_summary

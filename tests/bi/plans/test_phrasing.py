"""A plan said back in words."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask

from app.bi.plans.entities import Dimension, Entity
from app.bi.plans.phrasing import interpretation
from app.bi.plans.plan import Condition, Plan
from app.bi.questions.algebra import Threshold
from app.container.model import container

OPEN = Condition("status eq 'Open'", "open")
CHANNEL = Dimension("channel", "channel", "channel")


@pytest.mark.parametrize(
    ("kind", "parts", "words"),
    [
        ("list", {}, "Tickets."),
        ("count", {"conditions": (OPEN,)}, "Number of tickets (open)."),
        ("count", {"dimensions": (CHANNEL,)}, "Number of tickets by channel."),
        ("count", {"grain": "weekday"}, "Number of tickets by day of the week."),
        ("distinct", {"distinct": CHANNEL}, "Number of different values of channel among tickets."),
        ("share", {"share_of": OPEN}, "Share of tickets: open."),
        (
            "count",
            {"dimensions": (CHANNEL,), "threshold": Threshold("gt", "40", counted=True)},
            "Number of tickets by channel - those with over 40.",
        ),
        (
            "count",
            {"dimensions": (CHANNEL,), "ranked": "desc", "limit": 3},
            "Number of tickets by channel - top 3.",
        ),
        ("list", {"assumptions": ("“x” is left aside",)}, "Tickets. “x” is left aside."),
        ("list", {"repaired": (("tikets", "ticket"),)}, "Tickets. “tikets” read as “ticket”."),
    ],
)
def test_what_was_understood_is_said(
    app: Flask, kind: str, parts: dict[str, Any], words: str
) -> None:
    data = {
        "set": "Tickets",
        "one": "ticket",
        "name": "subject",
        "date": "createdAt",
        "columns": (),
    }
    plan = Plan(entity=Entity("Tickets", data, container()), kind=kind, **parts)
    assert interpretation(plan) == words

"""What a view says of itself is what the edge asks of whoever calls it."""

from __future__ import annotations

from flask import Flask

from app import permissions
from app.http.security import CLOSED, rules_of


def test_a_public_view_counts_addresses_and_a_closed_one_its_callers(app: Flask) -> None:
    for endpoint, rules in rules_of(app).items():
        assert rules.public == (rules.counting != CLOSED.counting), endpoint
        assert not (rules.public and rules.permissions), endpoint
        assert set(rules.permissions) <= set(permissions.PERMISSIONS), endpoint


def test_a_view_that_says_nothing_is_closed() -> None:
    app = Flask("closed", static_folder=None)
    app.add_url_rule("/", "silent", lambda: "")
    assert rules_of(app) == {"silent": CLOSED}

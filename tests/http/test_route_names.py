"""A request is counted and traced under its route, and never under what a caller made up."""

from __future__ import annotations

import pytest
from flask import Flask, request

from app.http.route_names import RouteNames


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/api/leads/7", "/api/leads/<int:lead_id>"),
        ("/api/leads/seven", "none"),
        ("/nothing", "none"),
        ("/odata/Clients", "/odata/Clients"),
        ("/odata/v1/Clients(7)/Contacts", "/odata/Clients"),
        ("/odata/Clients/$count", "/odata/Clients"),
        ("/odata/Invented7", "/odata"),
        ("/odata/v1/ClientsOfMine", "/odata"),
        ("/odata/", "none"),
        ("/odata/$metadata", "none"),
    ],
)
def test_a_route_has_the_name_of_its_rule_and_of_its_set(path: str, name: str) -> None:
    app = Flask(__name__)
    app.add_url_rule("/api/leads/<int:lead_id>", view_func=lambda lead_id: "")
    with app.test_request_context(path):
        assert RouteNames(frozenset({"Clients"})).of(request.environ) == name

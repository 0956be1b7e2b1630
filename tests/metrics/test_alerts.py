"""``docs/alerts.yml``: rules that can be read, and that name numbers which the service gives."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]
from flask import Flask
from prometheus_client.parser import text_string_to_metric_families

TOKEN = "a-token-of-the-monitoring-system"
RULES = Path(__file__).parents[2] / "docs" / "alerts.yml"
# PromQL's own words, and what Prometheus says of each target itself.
_NOT_OURS = {"sum", "rate", "increase", "by", "on", "histogram_quantile", "up"}
# Given only where there is such a thing.
_OF_POSTGRESQL = {"database_connections", "database_connections_max"}


def rules() -> list[dict[str, Any]]:
    groups = yaml.safe_load(RULES.read_text("utf-8"))["groups"]
    return [rule for group in groups for rule in group["rules"]]


def names_and_labels(expression: str) -> list[tuple[str, set[str]]]:
    """The numbers of an expression, each with the labels that it asks for in braces."""
    pairs = []
    plain = re.sub(r"\b(?:by|on)\s*\([^)]*\)", " ", expression)
    for name, braces in re.findall(r"\b([a-z_]{2,}[a-z])\b(\{[^}]*\})?(?![^{]*\})", plain):
        if name not in _NOT_OURS:
            pairs.append((name, set(re.findall(r"(\w+)\s*[=!]~?", braces))))
    return pairs


@pytest.fixture
def given(make_app: Callable[..., Flask]) -> dict[str, set[str]]:
    """The numbers that a service gives after a request and a refusal, with their labels."""
    app = make_app(
        METRICS_TOKEN=TOKEN, RATE_LIMIT_USER="1/minute", AI_BASE_URL="http://127.0.0.1:1/v1"
    )
    client = app.test_client()
    for _ in range(3):
        client.get("/docs", environ_base={"REMOTE_ADDR": "192.0.2.1"})
    text = client.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"}).text
    labels_of: dict[str, set[str]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            labels_of.setdefault(sample.name, set()).update(sample.labels)
    return labels_of


def test_every_rule_can_be_read_and_says_what_to_do() -> None:
    assert len(rules()) > 10
    for rule in rules():
        assert re.fullmatch(r"[A-Z]\w+", rule["alert"])
        assert rule["labels"]["severity"] in ("page", "look")
        assert len(rule["annotations"]["summary"]) > 20
        assert rule["expr"].count("(") == rule["expr"].count(")")
        assert re.fullmatch(r"\d+[mh]", rule.get("for", "0m"))


def test_every_number_of_a_rule_is_given_by_the_service(
    given: dict[str, set[str]], app: Flask
) -> None:
    is_sqlite = app.config["SQLALCHEMY_DATABASE_URI"].startswith("sqlite")
    asked = {name for rule in rules() for name, _ in names_and_labels(rule["expr"])}
    absent = _OF_POSTGRESQL if is_sqlite else set()
    assert len(asked) > 10
    assert asked - set(given) - absent == set()


def test_every_label_of_a_rule_is_given_by_the_service(given: dict[str, set[str]]) -> None:
    for rule in rules():
        for name, labels in names_and_labels(rule["expr"]):
            assert labels <= given.get(name, labels), (rule["alert"], name)


@pytest.mark.parametrize(
    ("expression", "found"),
    [
        ("a_up == 0", [("a_up", set())]),
        ('rate(b_total{status=~"5.."}[5m]) / c_max', [("b_total", {"status"}), ("c_max", set())]),
        ("sum by (instance) (d_one) / on (instance) d_two", [("d_one", set()), ("d_two", set())]),
    ],
    ids=["comparison", "rate", "join"],
)  # fmt: skip
def test_names_and_labels(expression: str, found: list[tuple[str, set[str]]]) -> None:
    assert names_and_labels(expression) == found

"""Limits as settings write them."""

from __future__ import annotations

import pytest

from app.config import ConfigError
from app.limits.rate import Rate


@pytest.mark.parametrize(
    ("text", "rate"),
    [
        ("100/minute", Rate(100, 60)),
        ("1000/minute", Rate(1000, 60)),
        (" 5 / Seconds ", Rate(5, 1)),
        ("2/hour", Rate(2, 3600)),
        ("9/day", Rate(9, 86400)),
    ],
)
def test_a_limit_is_an_amount_in_a_time(text: str, rate: Rate) -> None:
    assert Rate.parse(text) == rate


@pytest.mark.parametrize("text", ["", "0/minute", "100", "100/fortnight", "-1/minute", "1.5/hour"])
def test_anything_else_stops_the_start_and_names_the_setting(text: str) -> None:
    with pytest.raises(ConfigError, match="RATE_LIMIT_USER must look like 100/minute"):
        Rate.parse(text, "RATE_LIMIT_USER")

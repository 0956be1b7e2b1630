"""Settings of the model that cannot work stop the start, each with its name."""

from __future__ import annotations

from typing import Any

import pytest

from app.ai.provider.options import ANY_MODEL, read_options
from app.config import Config, ConfigError

MODEL = {"SECRET_KEY": "k" * 40, "AI_BASE_URL": "https://models.example/v1/"}


def test_without_an_address_there_is_no_model() -> None:
    assert read_options(Config(SECRET_KEY="k" * 40)) is None


def test_what_is_not_set_has_a_default() -> None:
    options = read_options(Config(**MODEL, AI_REDACT="none"))
    assert options is not None
    assert (options.url, options.model) == (
        "https://models.example/v1/chat/completions", ANY_MODEL,
    )  # fmt: skip
    assert options.redacted == frozenset() and options.key is None


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"AI_BASE_URL": "models.example"}, "AI_BASE_URL cannot be used"),
        ({"AI_BASE_URL": "ftp://models.example"}, "AI_BASE_URL cannot be used"),
        ({"AI_API_KEY": "k\u00e9y"}, "AI_API_KEY must be printable ASCII"),
        ({"AI_API_KEY": "key\r\nHost: x"}, "AI_API_KEY must be printable ASCII"),
        ({"AI_TIMEOUT_SECONDS": 0}, "must be 1 or more"),
        ({"AI_MAX_TOKENS": 0}, "must be 1 or more"),
        ({"AI_REDACT": "email, colour"}, "AI_REDACT has 'colour'; there are "),
    ],
)
def test_what_cannot_work_is_refused_by_name(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        read_options(Config(**{**MODEL, **settings}))

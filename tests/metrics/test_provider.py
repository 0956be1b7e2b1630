"""The model provider among the numbers."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from flask import Flask

from app.ai.provider.answering import ai_provider
from app.ai.provider.health import FAILED, FAILURES, ProviderError

TOKEN = "t" * 40


def numbers(app: Flask) -> str:
    answer = app.test_client().get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    assert answer.status_code == 200
    return answer.text


@pytest.mark.only_on("sqlite")
def test_answers_and_tokens_are_counted(make_app: Callable[..., Flask]) -> None:
    app = make_app(METRICS_TOKEN=TOKEN, AI_BASE_URL="http://127.0.0.1:9/v1")
    health = ai_provider.of(app).health
    with health.answering():
        health.count(100, 20)
    text = numbers(app)
    assert 'ai_answers_total{outcome="answered"} 1.0' in text
    assert 'ai_tokens_total{kind="input"} 100.0' in text
    assert "ai_provider_failing 0.0" in text
    for _ in range(FAILURES):
        with pytest.raises(ProviderError), health.answering():
            raise ProviderError(FAILED)
    assert "ai_provider_failing 1.0" in numbers(app)


@pytest.mark.only_on("sqlite")
def test_without_a_provider_there_are_none(make_app: Callable[..., Flask]) -> None:
    assert "ai_" not in numbers(make_app(METRICS_TOKEN=TOKEN))

"""How the model provider does, as this process has seen it."""

from __future__ import annotations

from collections.abc import Iterator

from flask import Flask
from prometheus_client import metrics_core

from app.ai.provider.answering import ai_provider


def provider_metrics(app: Flask) -> Iterator[metrics_core.Metric]:
    """Answers, tokens, and whether it is left alone; nothing where no provider is set."""
    provider = ai_provider.of(app)
    if provider is None:
        return
    health = provider.health
    yield metrics_core.GaugeMetricFamily(
        "ai_provider_failing", "1 while the provider is left alone.", value=not health.is_well()
    )
    answers = metrics_core.CounterMetricFamily(
        "ai_answers", "Answers by the model, or by the built-in assistant instead.",
        labels=["outcome"],
    )  # fmt: skip
    for outcome in ("answered", "fallback"):
        answers.add_metric([outcome], health.outcomes[outcome])
    yield answers
    tokens = metrics_core.CounterMetricFamily(
        "ai_tokens", "Tokens that the model has read and written.", labels=["kind"]
    )
    for kind in ("input", "output"):
        tokens.add_metric([kind], health.tokens[kind])
    yield tokens

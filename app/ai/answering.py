"""Who answers a message: the model, where a provider is set and well; else the built-in assistant.

What nobody gets is refused before any model is asked, and whatever keeps the model from answering
is made good by the built-in assistant (docs/adr/0039).
"""

from __future__ import annotations

from collections.abc import Generator, Iterator

import structlog
from flask import Flask

from app.ai import builtin
from app.ai.parts import BUILT_IN, Ask, Part, Served, Text, Words
from app.ai.provider.answering import Provider, ai_provider
from app.ai.provider.health import ProviderError
from app.ai.provider.options import read_options
from app.ai.wording import label
from app.config import Config
from app.errors import ApiError, ValidationError
from app.localisation.catalogue import SOURCE, marked
from app.localisation.service_messages import message_in

INSTEAD = marked("(The answer broke off here. The built-in assistant says:)")
# What the service keeps may change while an answer is made, and the lease must outlive it.
MARGIN_SECONDS = 30

_log = structlog.get_logger()


def init_app(app: Flask, config: Config) -> None:
    """Give ``app`` its provider, if one is set.

    Raises: ConfigError.
    """
    options = read_options(config)
    ai_provider.bind(app, Provider(options) if options else None)


def model_for(ask: Ask) -> str:
    """Who is going to answer, as far as it is known before."""
    provider = ai_provider.current
    if provider is None or builtin.is_settled(ask.text):
        return BUILT_IN
    return provider.options.model[:100]


def longest_seconds() -> int:
    """How long an answer may take until it is said to have failed."""
    provider = ai_provider.current
    return MARGIN_SECONDS + (int(provider.options.seconds) if provider else MARGIN_SECONDS)


def answer(ask: Ask) -> Generator[Part]:
    """The parts of the answer, in the order of saying them.

    What the service refuses on the way, such as a record that went away meanwhile, is said.
    """
    try:
        provider = ai_provider.current
        if provider is None or builtin.is_settled(ask.text):
            yield from builtin.answer(ask)
        else:
            yield from _by_model(provider, ask)
    except ApiError as error:
        yield Text(_refusal_text(error, ask.language))


def _refusal_text(error: ApiError, language: str) -> str:
    """What the service refuses, in the language of the conversation."""
    if language == SOURCE:
        return error.message
    problems = []
    for each in error.details if isinstance(error, ValidationError) else ():
        name = each.field.rpartition(".")[2].partition("[")[0]
        text = message_in(language, each.message)
        problems.append(f"{label(name, language)}: {text}" if name else text)
    return "; ".join(problems) or message_in(language, error.message)


def _by_model(provider: Provider, ask: Ask) -> Iterator[Part]:
    has_spoken = False
    try:
        for part in provider.answer(ask):
            has_spoken = has_spoken or isinstance(part, Words)
            yield part
        return
    except ProviderError as error:
        reason, used = error.reason, error.used
        _log.warning("the built-in assistant answers instead of the model", reason=reason)
    yield Served(BUILT_IN, "fallback", reason, *used)
    if has_spoken:
        yield Words(f"\n\n{ask.translated(INSTEAD)}\n\n")
    yield from builtin.answer(ask)

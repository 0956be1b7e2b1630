"""What the settings say of the model provider."""

from __future__ import annotations

from dataclasses import dataclass, field

from app.config import Config, ConfigError
from app.outbound.addresses import UrlError, read_url

KINDS = ("email", "phone", "iban")
# A server that serves one model only takes any name.
ANY_MODEL = "default"


@dataclass(frozen=True)
class Options:
    """Where the model is, and what an answer may cost.

    ``seconds`` is for a whole answer, ``answer_tokens`` for each reply of the model,
    ``day_tokens`` for a caller and day (0: no limit); ``redacted``: kinds of text that never leave.
    """

    url: str
    model: str
    seconds: float
    answer_tokens: int
    day_tokens: int
    redacted: frozenset[str]
    key: str | None = field(default=None, repr=False)


def read_options(config: Config) -> Options | None:
    """None where no provider is set.

    Raises: ConfigError, the address is none, or a kind to redact is unknown.
    """
    if not config.AI_BASE_URL:
        return None
    url = f"{config.AI_BASE_URL.rstrip('/')}/chat/completions"
    try:
        read_url(url, allow_private=True)
    except UrlError as error:
        raise ConfigError(f"AI_BASE_URL cannot be used: {error}") from error
    key = config.AI_API_KEY
    if key and not (key.isascii() and key.isprintable()):
        raise ConfigError("AI_API_KEY must be printable ASCII")
    if config.AI_TIMEOUT_SECONDS < 1 or config.AI_MAX_TOKENS < 1:
        raise ConfigError("AI_TIMEOUT_SECONDS and AI_MAX_TOKENS must be 1 or more")
    return Options(
        url, config.AI_MODEL or ANY_MODEL, config.AI_TIMEOUT_SECONDS, config.AI_MAX_TOKENS,
        config.AI_BUDGET_TOKENS, _kinds(config.AI_REDACT), key,
    )  # fmt: skip


def _kinds(text: str) -> frozenset[str]:
    kinds = frozenset(part for word in text.split(",") if (part := word.strip().lower()))
    if kinds == {"none"}:
        return frozenset()
    if unknown := kinds - set(KINDS):
        choices = ", ".join(KINDS)
        raise ConfigError(f"AI_REDACT has {min(unknown)!r}; there are {choices}, and none")
    return kinds

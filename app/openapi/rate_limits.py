"""What the descriptions of operations say of rate limits, from the settings."""

from __future__ import annotations

from dataclasses import dataclass

from app.config import Config


@dataclass(frozen=True)
class RateLimits:
    """Sentences for operations that need a caller, that are public, and that sign in."""

    caller: str
    public: str
    sign_in: str


def rate_limits(config: Config) -> RateLimits:
    """The sentences for these settings."""
    user, api_key = _rate(config.RATE_LIMIT_USER), _rate(config.RATE_LIMIT_API_KEY)
    return RateLimits(
        caller=f"Rate limit: {user} for a user, {api_key} for an API key.",
        public=f"Rate limit: {user} from one address.",
        sign_in=f"Rate limit: {_rate(config.RATE_LIMIT_AUTH)} from one address.",
    )


def _rate(text: str) -> str:
    number, _, period = text.partition("/")
    return f"{number} requests a {period}"

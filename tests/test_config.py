"""Settings: read once, typed, and refused in one line."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest

from app.config import Config, ConfigError, database_url

STRONG = "k7Jw-2mXq_9Lr4vT8yBn3zQp6sDf1hGc"


def production(**env: str) -> Config:
    return Config.from_env({"APP_ENV": "production", "SECRET_KEY": STRONG, **env})


@pytest.mark.requirement("SEC-07", "SEC-138")
@pytest.mark.parametrize(
    "secret",
    ["", "short", "x" * 40, "change-me-" + STRONG, "SECRET" + STRONG, "development" + STRONG],
    ids=["none", "short", "one character", "change-me", "secret", "development"],
)
def test_production_refuses_a_weak_secret(secret: str) -> None:
    with pytest.raises(ConfigError, match="SECRET_KEY"):
        production(SECRET_KEY=secret)


def test_production_refuses_a_weak_secret_of_before() -> None:
    with pytest.raises(ConfigError, match="SECRET_KEY"):
        production(SECRET_KEY_PREVIOUS=f"{STRONG}1,short")


def test_secrets_of_before_are_a_list() -> None:
    config = production(SECRET_KEY_PREVIOUS=f" {STRONG}1, {STRONG}2 ,")
    assert config.SECRET_KEY_PREVIOUS == (STRONG + "1", STRONG + "2")
    assert production().SECRET_KEY_PREVIOUS == ()


@pytest.mark.requirement("SEC-07")
def test_a_laptop_gets_a_random_secret_that_stays(tmp_path: Path) -> None:
    env = {"DATA_DIR": str(tmp_path / "data")}
    first, second = Config.from_env(env), Config.from_env(env)
    assert first.SECRET_KEY == second.SECRET_KEY
    assert len(first.SECRET_KEY) >= 32
    other = Config.from_env({"DATA_DIR": str(tmp_path / "other")})
    assert other.SECRET_KEY != first.SECRET_KEY
    assert (tmp_path / "data" / "secret_key").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("WEB_CONCURRENCY", "two"),
        ("TRUSTED_PROXIES", "-1"),
        ("TRUSTED_PROXIES", "\u00b2"),
        ("MAX_JSON_BYTES", "1MB"),
        ("DEMO_DATA", "perhaps"),
        ("WEBHOOK_RETRY_SCHEDULE", "5,soon"),
        ("WEBHOOK_RETRY_SCHEDULE", "5,\u00b2"),
    ],
)
def test_a_value_of_the_wrong_type_names_its_variable(name: str, value: str) -> None:
    with pytest.raises(ConfigError, match=name):
        Config.from_env({"SECRET_KEY": STRONG, name: value})


def test_settings_do_not_change_while_the_service_runs() -> None:
    config = Config(SECRET_KEY=STRONG)
    with pytest.raises(FrozenInstanceError):
        config.SECRET_KEY = "other"  # type: ignore[misc]


@pytest.mark.parametrize("prefix", ["postgres://", "postgresql://", "postgresql+psycopg://"])
def test_every_spelling_of_postgresql_means_psycopg(prefix: str) -> None:
    assert database_url(f"{prefix}u@h/d") == "postgresql+psycopg://u@h/d"
    assert database_url("sqlite:///x.db") == "sqlite:///x.db"

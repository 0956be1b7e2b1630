"""Settings: read once, typed, and refused in one line."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest
from sqlalchemy import make_url

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


def test_a_secret_that_a_full_disk_left_empty_is_made_anew(tmp_path: Path) -> None:
    env = {"DATA_DIR": str(tmp_path)}
    (tmp_path / "secret_key").touch()
    made = Config.from_env(env).SECRET_KEY
    assert len(made) >= 32
    assert made == Config.from_env(env).SECRET_KEY
    assert (tmp_path / "secret_key").stat().st_mode & 0o077 == 0
    assert [each.name for each in tmp_path.iterdir()] == ["secret_key"]


def test_processes_that_start_at_once_have_one_secret(tmp_path: Path) -> None:
    env = {"DATA_DIR": str(tmp_path / "data")}
    with ThreadPoolExecutor(8) as pool:
        made = set(pool.map(lambda _: Config.from_env(env).SECRET_KEY, range(32)))
    assert len(made) == 1 and len(made.pop()) >= 32


def test_a_folder_that_cannot_be_written_to_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match=r"DATA_DIR .* cannot keep a secret_key"):
        Config.from_env({"DATA_DIR": str(tmp_path / "file")})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("WEB_CONCURRENCY", "two"),
        ("TRUSTED_PROXIES", "-1"),
        ("TRUSTED_PROXIES", "\u00b2"),
        ("TRUSTED_PROXIES", "\u0663"),
        ("WEB_CONCURRENCY", "9" * 5000),
        ("ODATA_PAGE_SIZE", "2147483648"),
        ("MAX_JSON_BYTES", "1MB"),
        ("DEMO_DATA", "perhaps"),
        ("APP_ENV", "prod"),
        ("APP_ENV", "Production"),
        ("LOG_FORMAT", "xml"),
        ("MAX_JSON_BYTES", "0"),
        ("MAX_URL_BYTES", "0"),
        ("WEB_CONCURRENCY", "0"),
        ("WEBHOOK_RETRY_SCHEDULE", "5,soon"),
        ("WEBHOOK_RETRY_SCHEDULE", "5,\u00b2"),
        ("WEBHOOK_RETRY_SCHEDULE", "5,\u0663"),
    ],
)
def test_a_value_of_the_wrong_type_names_its_variable(name: str, value: str) -> None:
    with pytest.raises(ConfigError, match=name):
        Config.from_env({"SECRET_KEY": STRONG, name: value})


WRONG_URLS = [
    ("DATABASE_URL", "foo"),
    ("DATABASE_URL", "mysql://x/y"),
    ("DATABASE_URL", "postgresql://"),
    ("DATABASE_URL", "postgresql:/x"),
    ("DATABASE_URL", "postgresql://u:pass-word@h:abc/x"),
    ("DATABASE_URL", "postgresql://u:pass-word@h:99999/x"),
    ("DATABASE_URL", "postgresql://u:a@pass:word@h/x"),
    ("DATABASE_URL", "postgresql+asyncpg://u:pass-word@h/x"),
    ("DATABASE_URL", "sqlite://"),
    ("DATABASE_URL", "sqlite:///"),
    ("DATABASE_URL", "sqlite:///:memory:"),
    ("DATABASE_URL", "sqlite:////var/lib/"),
    ("DATABASE_URL", "sqlite+aiosqlite:////x.db"),
    ("DATABASE_REPLICA_URL", "foo"),
    ("DATABASE_REPLICA_URL", "mysql://u:pass-word@x/y"),
    ("DATABASE_REPLICA_URL", "postgresql://u:pass-word@h:abc/x"),
    ("REDIS_URL", "foo"),
    ("REDIS_URL", "http://x"),
    ("REDIS_URL", "redis:h"),
    ("REDIS_URL", "redis://:pass-word@h:abc/0"),
    ("REDIS_URL", "redis://:pass-word@h:99999"),
    ("REDIS_URL", "redis://h/abc"),
    ("REDIS_URL", "unix://"),
    ("REDIS_URL", "redis://[h"),
    ("STORAGE_URL", "foo"),
    ("STORAGE_URL", "s3://"),
    ("STORAGE_URL", "file://relative"),
    ("STORAGE_URL", "https://u:pass-word@h/bucket"),
    ("BASE_URL", "crm.example.com"),
    ("BASE_URL", "https://"),
    ("BASE_URL", "https://h:abc"),
    ("BASE_URL", "https://crm.example.com/?below"),
    ("BASE_URL", "https://crm.example.com/#below"),
    ("OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318"),
    ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://u:pass-word@h:abc"),
]


@pytest.mark.parametrize(("name", "value"), WRONG_URLS)
def test_an_address_that_is_none_names_its_variable_and_no_password(name: str, value: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Config.from_env({"SECRET_KEY": STRONG, name: value})
    told = caught.value.message
    assert told.startswith(f"{name} must ")
    assert "\n" not in told
    assert "pass-" not in told


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DATABASE_URL", "postgres://u:p%40w@h:5432/d?sslmode=require"),
        ("DATABASE_URL", "postgresql+psycopg://u@[::1]:5432/d"),
        ("DATABASE_URL", "postgresql:///d?host=/run/postgresql"),
        ("DATABASE_URL", "postgresql://h/d"),
        ("DATABASE_URL", "postgresql://u:a:b/c@h/d"),
        ("DATABASE_URL", "sqlite:///platform.db"),
        ("DATABASE_URL", "sqlite:////var/lib/platform.db?timeout=5"),
        ("REDIS_URL", "redis://127.0.0.1:6379/3"),
        ("REDIS_URL", "rediss://u:p@h"),
        ("REDIS_URL", "redis://[::1]:6379?db=2"),
        ("REDIS_URL", "unix:///run/redis.sock?db=1"),
        ("STORAGE_URL", "s3://bucket"),
        ("STORAGE_URL", "file:///folder"),
        ("STORAGE_URL", "memory://"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318"),
        ("BASE_URL", "https://crm.example.com/below"),
    ],
)
def test_an_address_that_may_be_one_is_taken(name: str, value: str) -> None:
    config = Config.from_env({"SECRET_KEY": STRONG, name: value})
    field = {"DATABASE_URL": "SQLALCHEMY_DATABASE_URI"}.get(name, name)
    assert getattr(config, field).endswith(value.partition("://")[2])
    if name == "DATABASE_URL":
        make_url(config.SQLALCHEMY_DATABASE_URI)  # it thinks so, too


def test_settings_do_not_change_while_the_service_runs() -> None:
    config = Config(SECRET_KEY=STRONG)
    with pytest.raises(FrozenInstanceError):
        config.SECRET_KEY = "other"  # type: ignore[misc]


@pytest.mark.parametrize("prefix", ["postgres://", "postgresql://", "postgresql+psycopg://"])
def test_every_spelling_of_postgresql_means_psycopg(prefix: str) -> None:
    assert database_url(f"{prefix}u@h/d") == "postgresql+psycopg://u@h/d"
    assert database_url("sqlite:///x.db") == "sqlite:///x.db"

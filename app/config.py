"""Settings: read once from the environment, typed, frozen; no default secret in production."""

from __future__ import annotations

import fcntl
import os
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import click

from app.http import page_sizes
from app.start.setting_urls import (
    MOST_PORT,
    is_number,
    problem_of_base_url,
    problem_of_database,
    problem_of_redis,
    problem_of_storage,
    problem_of_web_address,
)

DEFAULT_RETRY_SCHEDULE = "5,300,1800,7200,18000,36000,50400,72000,86400"
ENVIRONMENTS, LOG_FORMATS = ("development", "production"), ("console", "json")
# Where a key is kept that nobody has set.
KEY_FILE = "secret_key"
MINIMUM_SECRET_LENGTH = 32
# Both databases take it as a limit of rows.
MOST_NUMBER = 2_147_483_647
# What people paste from examples; refused in production.
KNOWN_SECRETS = ("change-me", "changeme", "secret", "development", "dev", "password", "default")


class ConfigError(click.ClickException):
    """A setting that the service cannot start with; commands print the message and end with 1."""


@dataclass(frozen=True, kw_only=True)
class Config:
    """Every setting of the service (docs/settings.md says what each means)."""

    SECRET_KEY: str
    # Keys of before: what they signed or sealed is still read, nothing new is made with them.
    SECRET_KEY_PREVIOUS: tuple[str, ...] = ()
    PRODUCTION: bool = False
    DATA_DIR: Path = Path("data")
    SQLALCHEMY_DATABASE_URI: str = ""
    DATABASE_REPLICA_URL: str | None = None
    REDIS_URL: str | None = None
    STORAGE_URL: str = ""
    STORAGE_REDIRECT: bool = False
    MAIL_URL: str = ""
    AI_BASE_URL: str | None = None
    AI_API_KEY: str | None = None
    AI_MODEL: str | None = None
    AI_TIMEOUT_SECONDS: int = 60
    AI_MAX_TOKENS: int = 1000
    AI_BUDGET_TOKENS: int = 200_000
    AI_REDACT: str = "email,phone,iban"
    METRICS_TOKEN: str | None = None
    OTEL_EXPORTER_OTLP_ENDPOINT: str | None = None
    ADMIN_USERNAME: str = "admin"
    ADMIN_PASSWORD: str | None = None
    DEMO_DATA: bool = True
    RATE_LIMIT_USER: str = "100/minute"
    RATE_LIMIT_API_KEY: str = "1000/minute"
    RATE_LIMIT_AUTH: str = "20/minute"
    WEB_CONCURRENCY: int = 1
    WEBHOOK_ALLOW_PRIVATE: bool = False
    WEBHOOK_RETRY_SCHEDULE: tuple[int, ...] = tuple(map(int, DEFAULT_RETRY_SCHEDULE.split(",")))
    TRUSTED_PROXIES: int = 0
    BASE_URL: str | None = None
    LOG_FORMAT: str = "console"
    MAX_JSON_BYTES: int = 1_000_000
    MAX_UPLOAD_MB: int = 25
    MAX_URL_BYTES: int = 16_384
    MAX_FILTER_DEPTH: int = 50
    MAX_FILTER_NODES: int = 500
    MAX_EXPAND_DEPTH: int = 5
    ODATA_PAGE_SIZE: int = page_sizes.ODATA.default
    CONSOLE_PAGE_SIZE: int = page_sizes.CONSOLE
    MAX_BATCH_REQUESTS: int = 100
    TESTING: bool = False

    @classmethod
    def from_env(cls, env: Mapping[str, str]) -> Config:
        """Read the variables of the environment.

        Raises: ConfigError, a value is not of its type, an address is none or, in production, a
            secret is missing or known.
        """
        read = _Reader(env)
        production = read.choice("APP_ENV", "development", ENVIRONMENTS) == "production"
        data_dir = data_folder(env)
        return cls(
            SECRET_KEY=_secret_key(env, data_dir, production),
            SECRET_KEY_PREVIOUS=_previous_keys(env.get("SECRET_KEY_PREVIOUS") or "", production),
            PRODUCTION=production,
            DATA_DIR=data_dir,
            SQLALCHEMY_DATABASE_URI=database_url(
                read.url("DATABASE_URL", problem_of_database)
                or f"sqlite:///{data_dir / 'platform.db'}"
            ),
            DATABASE_REPLICA_URL=(
                database_url(replica)
                if (replica := read.url("DATABASE_REPLICA_URL", problem_of_database))
                else None
            ),
            REDIS_URL=read.url("REDIS_URL", problem_of_redis),
            STORAGE_URL=(
                read.url("STORAGE_URL", problem_of_storage) or f"file://{data_dir / 'files'}"
            ),
            STORAGE_REDIRECT=read.flag("STORAGE_REDIRECT", False),
            MAIL_URL=read.text("MAIL_URL", f"file://{data_dir / 'mail'}"),
            AI_BASE_URL=env.get("AI_BASE_URL") or None,
            AI_API_KEY=env.get("AI_API_KEY") or None,
            AI_MODEL=env.get("AI_MODEL") or None,
            AI_TIMEOUT_SECONDS=read.number("AI_TIMEOUT_SECONDS", 60),
            AI_MAX_TOKENS=read.number("AI_MAX_TOKENS", 1000),
            AI_BUDGET_TOKENS=read.number("AI_BUDGET_TOKENS", 200_000),
            AI_REDACT=read.text("AI_REDACT", "email,phone,iban"),
            METRICS_TOKEN=env.get("METRICS_TOKEN") or None,
            OTEL_EXPORTER_OTLP_ENDPOINT=read.url(
                "OTEL_EXPORTER_OTLP_ENDPOINT", problem_of_web_address
            ),
            ADMIN_USERNAME=read.text("ADMIN_USERNAME", "admin"),
            ADMIN_PASSWORD=env.get("ADMIN_PASSWORD") or None,
            DEMO_DATA=read.flag("DEMO_DATA", True),
            RATE_LIMIT_USER=read.text("RATE_LIMIT_USER", "100/minute"),
            RATE_LIMIT_API_KEY=read.text("RATE_LIMIT_API_KEY", "1000/minute"),
            RATE_LIMIT_AUTH=read.text("RATE_LIMIT_AUTH", "20/minute"),
            WEB_CONCURRENCY=web_processes(env),
            WEBHOOK_ALLOW_PRIVATE=read.flag("WEBHOOK_ALLOW_PRIVATE", False),
            WEBHOOK_RETRY_SCHEDULE=read.numbers("WEBHOOK_RETRY_SCHEDULE", DEFAULT_RETRY_SCHEDULE),
            TRUSTED_PROXIES=read.number("TRUSTED_PROXIES", 0),
            BASE_URL=(read.url("BASE_URL", problem_of_base_url) or "").rstrip("/") or None,
            LOG_FORMAT=read.choice("LOG_FORMAT", "json" if production else "console", LOG_FORMATS),
            MAX_JSON_BYTES=read.number("MAX_JSON_BYTES", 1_000_000, least=1),
            MAX_UPLOAD_MB=read.number("MAX_UPLOAD_MB", 25),
            MAX_URL_BYTES=read.number("MAX_URL_BYTES", 16_384, least=1),
            MAX_FILTER_DEPTH=read.number("MAX_FILTER_DEPTH", 50),
            MAX_FILTER_NODES=read.number("MAX_FILTER_NODES", 500),
            MAX_EXPAND_DEPTH=read.number("MAX_EXPAND_DEPTH", 5),
            ODATA_PAGE_SIZE=read.number("ODATA_PAGE_SIZE", page_sizes.ODATA.default, least=1),
            CONSOLE_PAGE_SIZE=read.number("CONSOLE_PAGE_SIZE", page_sizes.CONSOLE, least=1),
            MAX_BATCH_REQUESTS=read.number("MAX_BATCH_REQUESTS", 100),
        )

    @property
    def max_upload_bytes(self) -> int:
        """The largest file that is taken."""
        return self.MAX_UPLOAD_MB * 1024 * 1024

    @property
    def is_sqlite(self) -> bool:
        """Whether the embedded database is used."""
        return self.SQLALCHEMY_DATABASE_URI.startswith("sqlite")


def data_folder(env: Mapping[str, str]) -> Path:
    """The folder for everything that is kept in files."""
    return Path(env.get("DATA_DIR") or "data").absolute()


def web_port(env: Mapping[str, str]) -> int:
    """Where the web process listens.

    Raises: ConfigError.
    """
    read = _Reader(env)
    return read.number("PORT", 8000, least=1, most=MOST_PORT)


def web_processes(env: Mapping[str, str]) -> int:
    """How many web processes there are.

    Raises: ConfigError.
    """
    read = _Reader(env)
    return read.number("WEB_CONCURRENCY", 1, least=1)


def database_url(url: str) -> str:
    """``url`` with the driver named: hosts give ``postgres://``, SQLAlchemy wants psycopg."""
    for prefix in ("postgres://", "postgresql://"):
        if url.startswith(prefix):
            return "postgresql+psycopg://" + url.removeprefix(prefix)
    return url


@dataclass(frozen=True)
class _Reader:
    """Typed reading of environment variables, with the variable's name in every error."""

    env: Mapping[str, str]

    def text(self, name: str, default: str) -> str:
        return self.env.get(name) or default

    def url(self, name: str, problem_of: Callable[[str], str | None]) -> str | None:
        value = self.env.get(name)
        if not value:
            return None
        if problem := problem_of(value):
            raise ConfigError(f"{name} {problem}")
        return value

    def choice(self, name: str, default: str, known: tuple[str, ...]) -> str:
        value = self.text(name, default)
        if value not in known:
            raise ConfigError(f"{name} must be {' or '.join(known)}, not {value!r}")
        return value

    def number(self, name: str, default: int, *, least: int = 0, most: int = MOST_NUMBER) -> int:
        value = self.env.get(name)
        if not value:
            return default
        if not is_number(value.strip()) or not least <= int(value) <= most:
            raise ConfigError(
                f"{name} must be a whole number from {least} to {most}, not {value!r}"
            )
        return int(value)

    def numbers(self, name: str, default: str) -> tuple[int, ...]:
        parts = (self.env.get(name) or default).split(",")
        if not all(is_number(part.strip()) for part in parts):
            raise ConfigError(f"{name} must be seconds with commas between, such as {default}")
        return tuple(int(part) for part in parts)

    def flag(self, name: str, default: bool) -> bool:
        value = (self.env.get(name) or "").strip().lower()
        if value in ("", "1", "0", "true", "false", "yes", "no", "on", "off"):
            return value in ("1", "true", "yes", "on") if value else default
        raise ConfigError(f"{name} must be 1 or 0, not {value!r}")


def _secret_key(env: Mapping[str, str], data_dir: Path, production: bool) -> str:
    """The key given; on a laptop without one, a random key kept in ``DATA_DIR``."""
    key = env.get("SECRET_KEY") or ""
    if key:
        if production:
            _refuse_weak(key)
        return key
    if production:
        raise ConfigError("SECRET_KEY is required in production: at least 32 random characters")
    path = data_dir / KEY_FILE
    try:
        return _kept_secret(path)
    except OSError as error:
        message = f"DATA_DIR {data_dir} cannot keep a secret_key ({error.strerror})"
        raise ConfigError(message) from error


def _kept_secret(path: Path) -> str:
    """The key in a file, made where there is none: of several processes one makes it."""
    if path.exists() and (key := path.read_text()):
        return key
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        if not (key := file.read()):
            os.fchmod(file.fileno(), 0o600)
            key = secrets.token_urlsafe(48)
            file.write(key)
    return key


def _previous_keys(text: str, production: bool) -> tuple[str, ...]:
    keys = tuple(key for part in text.split(",") if (key := part.strip()))
    for key in keys if production else ():
        _refuse_weak(key)
    return keys


def _refuse_weak(key: str) -> None:
    if len(key) < MINIMUM_SECRET_LENGTH:
        raise ConfigError(f"SECRET_KEY must have at least {MINIMUM_SECRET_LENGTH} characters")
    if len(set(key)) < 8 or any(key.lower().startswith(known) for known in KNOWN_SECRETS):
        raise ConfigError("SECRET_KEY is a known or guessable value: use random characters")

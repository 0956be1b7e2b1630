"""Sealed secrets, and the keys behind them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from flask import Flask

from app import sealing
from app.config import Config
from app.sealing import UnsealError, derived_keys, seal, unseal

CONFIG = Config(SECRET_KEY="a" * 40)


def application(config: Config) -> Flask:
    app = Flask("sealing")
    sealing.init_app(app, config)
    return app


@pytest.mark.requirement("INS-04")
def test_what_is_sealed_is_opened_and_not_readable() -> None:
    with application(CONFIG).app_context():
        sealed = seal(b"whsec_secret")
        assert "secret" not in sealed
        assert unseal(sealed) == b"whsec_secret"
        assert seal(b"whsec_secret") != sealed


@pytest.mark.parametrize("sealed", ["", "x", "gAAAAA==", "ü"])
def test_what_was_not_sealed_is_not_opened(sealed: str) -> None:
    with application(CONFIG).app_context(), pytest.raises(UnsealError):
        unseal(sealed)


def test_one_changed_character_is_noticed() -> None:
    with application(CONFIG).app_context():
        sealed = seal(b"secret")
        other = "A" if sealed[30] != "A" else "B"
        with pytest.raises(UnsealError):
            unseal(sealed[:30] + other + sealed[31:])


@pytest.mark.requirement("OPS-19")
def test_a_new_key_opens_what_the_one_before_sealed() -> None:
    with application(CONFIG).app_context():
        sealed = seal(b"secret")
    changed = replace(CONFIG, SECRET_KEY="b" * 40, SECRET_KEY_PREVIOUS=("a" * 40,))
    with application(changed).app_context():
        assert unseal(sealed) == b"secret"
        newly_sealed = seal(b"secret")
    with application(CONFIG).app_context(), pytest.raises(UnsealError):
        unseal(newly_sealed)


def test_each_purpose_and_each_secret_has_a_key_of_its_own() -> None:
    keys = {
        (secret, purpose): derived_keys(Config(SECRET_KEY=secret), purpose)[0]
        for secret in ("a" * 40, "b" * 40)
        for purpose in ("sealing", "access-token")
    }
    assert len({key.secret for key in keys.values()}) == 4
    assert len({key.id for key in keys.values()}) == 4
    assert all(len(key.secret) == 32 for key in keys.values())

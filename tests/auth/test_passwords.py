"""Passwords: hashes, and which new ones are taken."""

from __future__ import annotations

import time

import pytest
from argon2 import PasswordHasher
from flask import Flask

from app.auth import passwords as module
from app.auth.passwords import Passwords, check_new_password, passwords
from app.config import Config
from app.errors import ValidationError


@pytest.fixture(scope="module")
def cheap() -> Passwords:
    return Passwords(PasswordHasher(time_cost=1, memory_cost=1024, parallelism=1))


@pytest.mark.requirement("SEC-23")
@pytest.mark.parametrize(
    "password",
    [
        "three-blue-kettles",
        "пароль-очень-длинный",
        "密码" * 60,
        "👩\u200d👩\u200d👧 family " * 9,
        " leading and trailing ",
    ],
    ids=["ascii", "cyrillic", "han", "emoji", "blanks"],
)
def test_a_password_of_any_script_and_length_fits_whole(cheap: Passwords, password: str) -> None:
    hashed = cheap.hash(password)
    assert cheap.is_right(password, hashed)
    assert not cheap.is_right(password[:-1], hashed)
    assert not cheap.is_right(password + "x", hashed)


def test_composed_and_decomposed_characters_are_the_same_password(cheap: Passwords) -> None:
    assert cheap.is_right("cafe\u0301-corner-shop", cheap.hash("caf\u00e9-corner-shop"))


@pytest.mark.requirement("SEC-19")
def test_without_a_hash_nothing_fits_and_it_takes_as_long() -> None:
    real = Passwords(PasswordHasher(time_cost=2, memory_cost=16384, parallelism=1))
    hashed = real.hash("three-blue-kettles")
    times = {}
    for name, stored in (("known", hashed), ("unknown", None)):
        begin = time.process_time()
        for _ in range(5):
            assert not real.is_right("wrong", stored)
        times[name] = time.process_time() - begin
    assert 0.5 < times["known"] / times["unknown"] < 2


@pytest.mark.requirement("INS-01")
def test_hashes_are_argon2id_with_the_parameters_of_the_library() -> None:
    app = Flask("production")
    module.init_app(app, Config(SECRET_KEY="x" * 32))
    hashed = passwords.of(app).hash("three-blue-kettles")
    assert hashed.startswith("$argon2id$v=19$m=65536,t=3,p=4$")
    assert not passwords.of(app).is_outdated(hashed)


@pytest.mark.requirement("INS-01")
def test_a_hash_of_other_parameters_is_outdated(cheap: Passwords) -> None:
    assert cheap.is_outdated(PasswordHasher(time_cost=2, memory_cost=1024).hash("x"))


def test_a_damaged_hash_fits_nothing(cheap: Passwords) -> None:
    assert not cheap.is_right("x", "$argon2id$damaged")


@pytest.mark.requirement("SEC-24")
@pytest.mark.parametrize(
    "password", ["", "short", "elevenchars"], ids=["empty", "short", "eleven characters"]
)
def test_short_ones_are_refused(password: str) -> None:
    with pytest.raises(ValidationError, match="at least 12 characters"):
        check_new_password(password)


@pytest.mark.requirement("SEC-24")
@pytest.mark.parametrize(
    "password",
    [
        "123456789012", "password1234", "Password123!", "qwertyuiop12", "passwordpassword",
        "aaaaaaaaaaaa", "1q2w3e4r5t6y", "P@ssw0rd1234", "abcdefghijkl", "leavemealone",
        "sonyericsson", "iloveyou1234", "annabella123",
    ],
)  # fmt: skip
def test_common_ones_are_refused(password: str) -> None:
    with pytest.raises(ValidationError, match="too common"):
        check_new_password(password, "annabella", "annabella@example.com")


@pytest.mark.parametrize("password", ["three-blue-kettles", "ü" * 80, "Sales-Passw0rd-7"])
def test_good_ones_are_taken(password: str) -> None:
    check_new_password(password, "annabella", None)

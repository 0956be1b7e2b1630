"""Headers with credentials, and the form of API keys."""

from __future__ import annotations

import base64
import re

import pytest

from app.auth.credentials import (
    Credential,
    check_api_key_form,
    new_api_key,
    read_authorization,
)
from app.errors import ApiKeyInvalidError, TokenMissingError


def basic(text: str) -> str:
    return "Basic " + base64.b64encode(text.encode()).decode()


@pytest.mark.parametrize(
    ("header", "credential"),
    [
        ("Bearer abc", Credential("token", "abc")),
        ("bearer   abc ", Credential("token", "abc")),
        ("BEARER a.b.c", Credential("token", "a.b.c")),
        (basic("anything:key"), Credential("key", "key")),
        (basic(":key:with:colons"), Credential("key", "key:with:colons")),
        ("basic " + basic("ü:key")[6:], Credential("key", "key")),
    ],
)
def test_a_readable_header(header: str, credential: Credential) -> None:
    assert read_authorization(header, basic=True) == credential


@pytest.mark.parametrize(
    "header",
    [
        "", " ", "Bearer", "Bearer ", "Bearer a b", "Bearer ü", "Token abc", "abc", "Bearer: abc",
        "Basic", "Basic !!!", "Basic YQ==", "Basic " + base64.b64encode(b"\xff:\xff").decode(),
        "Digest username=x", "Bearer a, Bearer b",
    ],
)  # fmt: skip
def test_an_unreadable_header(header: str) -> None:
    with pytest.raises(TokenMissingError):
        read_authorization(header, basic=True)


def test_basic_is_not_for_every_address() -> None:
    with pytest.raises(TokenMissingError, match="Bearer is expected"):
        read_authorization(basic("any:key"), basic=False)


@pytest.mark.requirement("SEC-30")
def test_a_key_has_a_public_prefix_256_random_bits_and_a_checksum() -> None:
    made = new_api_key()
    assert re.fullmatch(r"bpk_live_[0-9A-Za-z]{8}_[0-9A-Za-z]{49}", made.key)
    assert made.key.startswith(made.prefix + "_")
    assert len({new_api_key().key for _ in range(100)}) == 100
    check_api_key_form(made.key)


@pytest.mark.requirement("SEC-31")
def test_a_mistyped_key_is_refused_by_its_checksum() -> None:
    key = new_api_key().key
    for place in range(len(key)):
        other = "0" if key[place] != "0" else "1"
        with pytest.raises(ApiKeyInvalidError):
            check_api_key_form(key[:place] + other + key[place + 1 :])


@pytest.mark.requirement("SEC-31")
@pytest.mark.parametrize("key", ["", "x", "bpk_live_", "bpk_test_12345678_" + "A" * 49, "ü" * 67])
def test_what_is_no_key_of_ours_is_refused(key: str) -> None:
    with pytest.raises(ApiKeyInvalidError):
        check_api_key_form(key)

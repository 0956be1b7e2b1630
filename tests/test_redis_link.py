"""The address of Redis: what is wrong with its options is told when the service starts."""

from __future__ import annotations

import pytest

from app.config import ConfigError
from app.redis_link import RedisLink


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("redis://:pass-word@h?foo=bar", "unexpected keyword argument 'foo'"),
        ("redis://:pass-word@h?ssl_cert_reqs=none", "unexpected keyword argument 'ssl_cert_reqs'"),
        ("redis://:pass-word@h?db=abc", "Invalid value for 'db' in connection URL."),
        ("redis://:pass-word@h?socket_timeout=soon",
         "Invalid value for 'socket_timeout' in connection URL."),
        ("rediss://:pass-word@h?ssl_cert_reqs=odd",
         "Invalid SSL Certificate Requirements Flag: odd"),
        ("redis://:pass-word@h?protocol=9", "protocol must be either 2 or 3"),
    ],
)  # fmt: skip
def test_a_wrong_option_is_one_line_without_the_password(url: str, problem: str) -> None:
    with pytest.raises(ConfigError) as caught:
        RedisLink(url)
    assert str(caught.value) == f"REDIS_URL cannot be used: {problem}"


@pytest.mark.parametrize(
    "url",
    ["redis://h?db=2&health_check_interval=30", "rediss://h/1?ssl_cert_reqs=none",
     "unix:///run/redis.sock?db=1"],
)  # fmt: skip
def test_right_options_need_no_server_yet(url: str) -> None:
    assert not RedisLink(url).away

"""The setting MAIL_URL."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.config import ConfigError
from app.mail.address import MailServer, parse_mail_url, server_form


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("file:///var/mail", Path("/var/mail")),
        ("smtp://mail.example", MailServer("mail.example", 25)),
        ("smtps://mail.example", MailServer("mail.example", 465, is_tls=True)),
        (
            "smtp://me%40acme.example:p%3Aw@mail.example:587?starttls=required",
            MailServer("mail.example", 587, "me@acme.example", "p:w", starttls="required"),
        ),
        ("smtp://[::1]:2525", MailServer("::1", 2525)),
    ],
)
def test_a_url_names_a_server_or_a_folder(url: str, found: MailServer | Path) -> None:
    assert parse_mail_url(url) == found


@pytest.mark.parametrize(
    "url",
    [
        "mail.example", "http://mail.example", "smtp://", "smtp://host:port", "file://relative",
        "smtp://host?starttls=perhaps", "smtp://user:hidden@host?colour=red", "",
    ],
)  # fmt: skip
def test_another_is_refused_without_telling_the_password(url: str) -> None:
    with pytest.raises(ConfigError) as refused:
        parse_mail_url(url)
    assert "hidden" not in str(refused.value)


@pytest.mark.parametrize(
    ("host", "is_local"),
    [("127.0.0.1", True), ("::1", True), ("localhost", True), ("10.0.0.1", False), ("a.b", False)],
)
def test_this_machine_is_known(host: str, is_local: bool) -> None:
    assert MailServer(host, 25).is_local is is_local


def test_domains_are_written_in_ascii() -> None:
    assert server_form("a@bücher.example") == "a@xn--bcher-kva.example"
    assert server_form("jürgen@acme.example") == "jürgen@acme.example"

"""Delivery of mail to servers that ask for a password or speak TLS."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.smtp import AuthResult, LoginPassword
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.mail.conftest import Post
from tests.mail.servers import Mailbox, mail_server, server_at


@pytest.mark.filterwarnings("ignore:Requiring AUTH while not requiring TLS")
def test_a_password_is_sent_and_a_wrong_one_can_be_mended(post: Post) -> None:
    def check(server: Any, session: Any, envelope: Any, mechanism: str, given: Any) -> AuthResult:
        assert isinstance(given, LoginPassword)
        is_right = given == LoginPassword(b"acme", b"right")
        return AuthResult(success=is_right, handled=is_right)

    mailbox = Mailbox()
    key = post.queue()
    options: dict[str, Any] = {
        "authenticator": check, "auth_require_tls": False, "auth_required": True,
    }  # fmt: skip
    with mail_server(mailbox, **options) as port:
        post.deliver(server_at(port, username="acme", password="wrong"))
        row = post.row(key)
        assert row["status"] == "queued" and "535" in row["error"]
        assert "wrong" not in row["error"]
        post.make_due(key)
        post.deliver(server_at(port, username="acme", password="right"))
    assert post.row(key)["status"] == "sent"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> ssl.SSLContext:
    """What a server on this machine shows."""
    folder: Path = tmp_path_factory.mktemp("certificate")
    made, key = folder / "cert.pem", folder / "key.pem"
    secret = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    signed = (
        x509.CertificateBuilder(name, name, secret.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .sign(secret, hashes.SHA256())
    )
    made.write_bytes(signed.public_bytes(serialization.Encoding.PEM))
    key.write_bytes(
        secret.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(made, key)
    return context


def test_starttls_is_taken_where_offered(post: Post, certificate: ssl.SSLContext) -> None:
    mailbox = Mailbox()
    keys = [post.queue(), post.queue()]
    with mail_server(mailbox, tls_context=certificate, require_starttls=True) as port:
        post.deliver(server_at(port))
    assert {post.row(key)["status"] for key in keys} == {"sent"}


def test_required_starttls_is_insisted_on(post: Post) -> None:
    key = post.queue()
    with mail_server(Mailbox()) as port:
        post.deliver(server_at(port, starttls="required"))
    assert "STARTTLS" in post.row(key)["error"]


def test_a_server_behind_tls(post: Post, certificate: ssl.SSLContext) -> None:
    mailbox = Mailbox()
    post.queue()
    with mail_server(mailbox, ssl_context=certificate) as port:
        post.deliver(server_at(port, is_tls=True))
    assert len(mailbox.envelopes) == 1

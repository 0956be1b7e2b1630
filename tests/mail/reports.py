"""Messages that mail servers send back, as several kinds of them write them."""

from __future__ import annotations


def report(
    message_id: str,
    *recipients: str,
    action: str = "failed",
    status: str = "5.1.1",
    reason: str = "smtp; 550 5.1.1 no such mailbox",
    original: dict[str, str] | None = None,
) -> bytes:
    """A report as Postfix writes it, the headers of the mail at its end."""
    original = original or {}
    blocks = "\r\n\r\n".join(
        "\r\n".join(
            (
                f"Final-Recipient: rfc822; {one}",
                *(
                    (f"Original-Recipient: rfc822;{original[one]}",) if one in original else ()
                ),
                f"Action: {action}", f"Status: {status}", f"Diagnostic-Code: {reason}",
            )
        )
        for one in recipients
    )  # fmt: skip
    lines = (
        "From: MAILER-DAEMON@mx.example", "To: billing@my.example",
        "Subject: Undelivered Mail Returned to Sender", "MIME-Version: 1.0",
        'Content-Type: multipart/report; report-type=delivery-status; boundary="=_x"', "",
        "--=_x", "Content-Type: text/plain", "", "I am sorry.", "",
        "--=_x", "Content-Type: message/delivery-status", "",
        "Reporting-MTA: dns; mx.example", "", blocks, "",
        "--=_x", "Content-Type: text/rfc822-headers", "",
        "Subject: Invoice", f"Message-ID: {message_id}", "",
        "--=_x--", "",
    )  # fmt: skip
    return "\r\n".join(lines).encode()


def answer_of_exchange(message_id: str, recipient: str) -> bytes:
    """A report that names the mail in In-Reply-To alone and returns nothing of it."""
    whole = report("<other@x.example>", recipient).decode()
    without = whole.partition("--=_x\r\nContent-Type: text/rfc822-headers")[0] + "--=_x--\r\n"
    return f"In-Reply-To: {message_id}\r\n{without}".encode()

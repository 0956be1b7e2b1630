"""Markup, control and formula text is printed as the text it is; nothing is fetched or run."""

from __future__ import annotations

import socket
import threading
import time
from typing import Any

import pytest

from app.invoices.document import Address, BankAccount, Party
from app.invoices.pdf.render import render_facturx, render_pdf
from app.invoices.plain_text import one_line
from tests.invoices.documents import make_document, make_line
from tests.invoices.pdf.reading import dictionaries, text_of

TEXTS = {
    "script": '<script>alert("x")</script>',
    "image of a local file": '<img src="file:///etc/passwd">',
    "image of the network": '<img src="http://169.254.169.254/latest/meta-data"/>',
    "paragraph markup": "<para><b>bold</b><font size=80>x</font></para>",
    "unclosed markup": "<b><i><u>open",
    "entity": "&lt;b&gt; &amp; &#x41; &nbsp;",
    "XML entity bomb": '<!DOCTYPE x [<!ENTITY a "ha">]>&a;&a;',
    "template": "{{7*7}} ${7*7} #{7*7} %(x)s {0} {name}",
    "formula": '=cmd|" /C calc"!A0',
    "PDF operators": "(abc) Tj ET endstream endobj 1 0 obj << /JS (x) >> \\",
    "control letters": "a\x00b\x07c\x1b[31md\x7fe",
    "turned around": "total \u202e00.001\u202c \u2066x\u2069",
    "many marks": "Z" + "\u0321\u0322\u0353\u0333" * 100,
    "no spaces": "W" * 900,
    "line ends": "a\r\n" * 300,
    "path": "../../../../etc/passwd\x00.png",
    "astral": "\U0001f600" * 200 + "\U00012000\U0001f1e9",
}


def document_full_of(text: str) -> Any:
    party = Party(
        name=text, legal_name=text, tax_id=text[:32], registration_number=text[:50], email=text,
        phone=text, website=text, contact_name=text, number=text[:50],
        address=Address(street=text, city=text, postal_code=text[:20], state=text, country="DE"),
    )  # fmt: skip
    line = make_line(description=text[:1000], product_code=text[:64], unit_code=text[:3])
    return make_document(
        [line], seller=party, buyer=party, number=text[:40], notes=text[:2000], terms=text[:2000],
        purchase_order=text[:50], buyer_reference=text[:100], reference=text[:100],
        bank=BankAccount(iban=text, bic=text, bank_name=text, account_holder=text),
    )  # fmt: skip


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refused to this thread; those of other applications in the process have their own work."""
    drawing = threading.get_ident()

    class Refused(socket.socket):
        def __init__(self, *arguments: Any, **named: Any) -> None:
            if threading.get_ident() == drawing:
                raise AssertionError("a document asked for the network")
            super().__init__(*arguments, **named)

    monkeypatch.setattr(socket, "socket", Refused)


@pytest.mark.requirement("SEC-72", "SEC-73")
@pytest.mark.usefixtures("no_network")
@pytest.mark.parametrize("name", TEXTS)
def test_any_text_in_any_field_is_drawn_in_time(name: str) -> None:
    started = time.thread_time()
    content = render_pdf(document_full_of(TEXTS[name]))
    assert time.thread_time() - started < 2
    assert content.startswith(b"%PDF-1.7") and content.endswith(b"%%EOF\n")
    for found in dictionaries(content):
        assert not {"/JS", "/JavaScript", "/URI", "/OpenAction", "/Launch"} & set(found)


@pytest.mark.requirement("SEC-72")
@pytest.mark.parametrize(
    "name", [name for name, text in TEXTS.items() if text.isascii() and len(text) < 80
             and name != "control letters" and name != "path"]
)  # fmt: skip
def test_the_text_stands_there_as_it_was_written(name: str) -> None:
    text = TEXTS[name]
    found = text_of(render_pdf(make_document([make_line(description=text)])))
    assert "".join(one_line(text).split()) in "".join(found.split())


@pytest.mark.usefixtures("no_network")
def test_any_text_is_data_in_the_xml_too() -> None:
    for text in TEXTS.values():
        line = make_line(description="x" + text[:900], product_code="x" + text[:60])
        content = render_facturx(make_document([line], notes=text[:2000]))
        assert content.endswith(b"%%EOF\n")

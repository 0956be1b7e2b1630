"""Reports on paper: every script embedded and shaped, pages numbered, their head on each."""

from __future__ import annotations

import io
import re

import pytest
from flask import Flask
from pypdf import PdfReader

from app.db.engines import transaction
from app.http.security import acting_as, system_caller
from tests.contract.conftest import Api
from tests.factories import make_client
from tests.invoices.pdf.reading import fonts_of, text_of

NAMES = (
    "شركة النور للتجارة",
    "חברת האור",
    "株式会社さくら",
    "北京科技有限公司",
    "한국상사",
    "Łódź & Søn",
    "Ελληνική",
)
CLIENTS = "/odata/Clients?$select=id,name,currency&$orderby=id"


@pytest.fixture
def names(app: Flask) -> None:
    """Clients whose names are written in many scripts."""
    with app.app_context(), transaction(), acting_as(system_caller("test")):
        for name in NAMES:
            make_client(name=name)


def pdf_of(api: Api, odata: str) -> bytes:
    saved = api.post("/api/bi/reports", {"name": "تقرير العملاء", "odata": odata})
    assert saved.status_code == 201, saved.text
    answer = api.post(f"/api/bi/reports/{saved.json['id']}/export", {"format": "pdf"})
    assert answer.status_code == 200, answer.text
    return bytes(answer.data)


def test_names_of_every_script_are_embedded(admin: Api, names: None) -> None:
    content = pdf_of(admin, CLIENTS)
    fonts = " ".join(str(font["/BaseFont"]) for font in fonts_of(content))
    for family in ("NotoSansArabic", "NotoSansHebrew", "NotoSansCJK", "NotoSans-"):
        assert family in fonts
    text = text_of(content)
    for name in NAMES[2:]:
        assert name in text
    assert "\ufffd" not in text


def test_pages_have_the_head_and_their_number(admin: Api, app: Flask) -> None:
    with app.app_context(), transaction(), acting_as(system_caller("test")):
        for number in range(90):
            make_client(name=f"Client {number:03d}")
    pages = [page.extract_text() for page in PdfReader(io.BytesIO(pdf_of(admin, CLIENTS))).pages]
    assert len(pages) == 3
    assert all("Currency" in text and f"Page {at}" in text for at, text in enumerate(pages, 1))
    found = re.findall(r"Client \d{3}", "".join(pages))
    assert found == [f"Client {number:03d}" for number in range(90)]


def test_the_same_report_makes_the_same_pages(admin: Api, names: None) -> None:
    first, second = (
        PdfReader(io.BytesIO(pdf_of(admin, CLIENTS))).pages[0].extract_text() for _ in range(2)
    )
    assert first.partition("As of")[0] == second.partition("As of")[0]

"""Text can be found in the file and copied out of it, in every script that is set."""

from __future__ import annotations

from datetime import date

import pypdfium2
import pytest

from app.invoices.pdf.archive import Metadata
from app.invoices.pdf.drawing import Page, Text
from app.invoices.pdf.render import render_pdf
from app.invoices.pdf.shaping import Shaper
from app.invoices.pdf.writer import write_pdf
from app.invoices.samples import sample

TEXTS = {
    "letters that share dots": "تصميم بيت ثلاثة جبال وحدة الخدمات الاستشارية",
    "Arabic digits": "المبلغ ١٢٣٫٤٥ ريال",  # noqa: RUF001
    "vowel signs": "مُحَمَّد شهرًا",
    "Persian with a joiner that is not": "خدمات می‌خواهم پشتیبانی نرم‌افزار گچ پژ",
    "Urdu": "ٹیکنالوجی کی خدمات ڈیزائن",
    "Hebrew": "שלום עולם 12 חשבונית",
    "Devanagari": "परामर्श सेवाएँ नमस्ते क्षत्रिय हिन्दी",
    "Bengali": "বাংলা পরামর্শ কি",
    "Tamil, a vowel around its letter": "தமிழ் ஆலோசனை கொ",
    "Thai": "บริการที่ปรึกษาน้ำ สวัสดี",
    "Japanese": "コンサルティング日本語の",
    "Korean": "한국어 상담",
    "one glyph for two characters": "⼀一",
    "Greek": "Ελληνικά",
    "Vietnamese": "Tiếng Việt dịch vụ",
    "ligatures": "office affluent",
}  # fmt: skip
_ABOUT = Metadata(title="t", author="a", subject="s", language="en", day=date(2026, 1, 1))


@pytest.fixture(scope="module")
def copied() -> dict[str, str]:
    """What a reader copies of each text; each stands on a page of one file."""
    shaper, pages = Shaper(), []
    for text in TEXTS.values():
        page = Page(width=595, height=842)
        page.marks.append(Text(50, 100, shaper.shape(text), 12, (0, 0, 0)))
        pages.append(page)
    file = pypdfium2.PdfDocument(write_pdf(pages, _ABOUT))
    try:
        found = [page.get_textpage().get_text_range() for page in file]
    finally:
        file.close()
    return dict(zip(TEXTS, found, strict=True))


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_is_copied_as_it_was_written(copied: dict[str, str], name: str) -> None:
    assert copied[name] == TEXTS[name]


@pytest.mark.parametrize("name", ["many-scripts", "right-to-left", "german", "french", "polish"])
def test_every_word_of_a_sample_is_found(name: str) -> None:
    document = sample(name)
    file = pypdfium2.PdfDocument(render_pdf(document))
    try:
        text = "".join("".join(page.get_textpage().get_text_range().split()) for page in file)
    finally:
        file.close()
    words = [word for line in document.lines for word in line.description.split()]
    # Where Hebrew meets a number, readers turn the hyphen by rules of their own.
    assert [word for word in words if word not in text and "-25" not in word] == []

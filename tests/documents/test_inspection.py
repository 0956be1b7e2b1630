"""Readers of texts and pictures, called as the program that looks into files calls them."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image

from app.documents.inspection.__main__ import main
from app.documents.inspection.pictures import MAXIMUM_PIXELS, draw_picture
from app.documents.inspection.texts import MAXIMUM_CHARACTERS, extract_text
from app.documents.media_types import media_type_of
from tests.documents import samples
from tests.documents.samples import PICTURES, TEXTS, WORDS

WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


def text_of(folder: Path, content: bytes, media_type: str) -> str:
    path = folder / "file"
    path.write_bytes(content)
    return extract_text(path, media_type)


@pytest.mark.parametrize("name", TEXTS)
def test_every_reader_finds_the_words(tmp_path: Path, name: str) -> None:
    text = text_of(tmp_path, TEXTS[name], media_type_of(TEXTS[name][:65_536], name))
    assert WORDS in text
    assert "hidden" not in text


def test_pages_of_a_pdf_follow_each_other(tmp_path: Path) -> None:
    assert text_of(tmp_path, samples.pdf("Page", pages=3), "application/pdf") == "Page\nPage\nPage"


@pytest.mark.parametrize(
    ("letter", "shown"),
    [
        ("Content-Type: text/html\n\n<p>Dear<br>you</p><style>p {}</style>bye", "Dear\nyou bye"),
        (
            'Content-Type: multipart/mixed; boundary="x"\n\n--x\nContent-Type: image/png\n\n--x--',
            "",
        ),
    ],
    ids=["page", "nothing to read"],
)
def test_a_letter_shows_its_subject_and_what_can_be_read(
    tmp_path: Path, letter: str, shown: str
) -> None:
    content = f"Subject: Offer\nFrom: a@b.example\nTo: c@d.example\n{letter}".encode()
    text = text_of(tmp_path, content, "message/rfc822")
    assert text == f"Offer\na@b.example\nc@d.example\n{shown}".strip()


def test_a_page_shows_what_follows_a_script_that_was_closed_twice(tmp_path: Path) -> None:
    page = b"<script>a()</script></script><p>Shown</p>"
    assert text_of(tmp_path, page, "text/html") == "Shown"


def test_a_text_cut_within_a_letter_loses_only_the_letter(tmp_path: Path) -> None:
    assert text_of(tmp_path, "Größe ü".encode()[:-1], "text/plain") == "Größe"


def test_numbers_of_shared_strings_are_no_text(tmp_path: Path) -> None:
    cells = b'<c t="s"><v>7</v></c><c><v>12</v></c><c><f>A1+1</f><v>13</v></c>'
    content = samples.archive({"xl/worksheets/sheet1.xml": b"<row>" + cells + b"</row>"})
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    assert text_of(tmp_path, content, kind).split() == ["12", "13"]


def test_an_encrypted_entry_is_passed_over(tmp_path: Path) -> None:
    content = bytearray(samples.docx())
    content[content.rindex(b"PK\x01\x02") + 8] |= 1  # the flags of the last entry
    assert text_of(tmp_path, bytes(content), WORD) == ""


def test_a_long_document_is_read_from_its_beginning(tmp_path: Path) -> None:
    text = text_of(tmp_path, samples.docx("<w:p>word</w:p>" * MAXIMUM_CHARACTERS), WORD)
    assert text.startswith("word\nword")
    assert len(text) <= MAXIMUM_CHARACTERS


def test_a_type_without_a_reader_has_no_text_and_no_picture(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"MZ")
    draw_picture(tmp_path / "file", "application/octet-stream", tmp_path / "x.png")
    assert not (tmp_path / "x.png").exists()
    assert extract_text(tmp_path / "file", "application/octet-stream") == ""


@pytest.mark.parametrize("name", PICTURES)
def test_every_picture_is_as_large_as_a_preview(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_bytes(PICTURES[name])
    draw_picture(tmp_path / "file", media_type_of(PICTURES[name], name), tmp_path / "x.png")
    with Image.open(tmp_path / "x.png") as image:
        assert (image.format, image.mode, max(image.size)) == ("PNG", "RGB", 800)


def test_what_can_be_seen_through_stands_on_white(tmp_path: Path) -> None:
    Image.new("RGBA", (8, 8), (255, 0, 0, 0)).save(tmp_path / "file", "PNG")
    draw_picture(tmp_path / "file", "image/png", tmp_path / "x.png")
    with Image.open(tmp_path / "x.png") as image:
        assert image.getpixel((0, 0)) == (255, 255, 255)


def test_a_picture_of_too_many_points_is_refused(tmp_path: Path) -> None:
    Image.new("1", (8_000, MAXIMUM_PIXELS // 8_000 + 1)).save(tmp_path / "file", "PNG")
    with pytest.raises(ValueError, match="8000 x 5001 pixels"):
        draw_picture(tmp_path / "file", "image/png", tmp_path / "x.png")


def test_the_program_names_every_problem_and_gives_what_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """Its limits would stay with the process that runs the tests: here it sets none."""
    monkeypatch.setattr("resource.setrlimit", lambda what, limits: None)
    (tmp_path / "file").write_bytes(samples.pdf())
    main(tmp_path / "file", "application/pdf", tmp_path / "x.png")
    assert capfdbinary.readouterr().out.decode() == WORDS
    (tmp_path / "file").write_bytes(samples.pdf()[:200])
    with pytest.raises(SystemExit, match=r"no picture: .*; no text: "):
        main(tmp_path / "file", "application/pdf", tmp_path / "x.png")

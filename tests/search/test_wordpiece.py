"""Our WordPiece gives the numbers that the reference implementation gives."""

from __future__ import annotations

from pathlib import Path

import pytest
from tokenizers import BertWordPieceTokenizer

from app.search import wordpiece
from app.search.wordpiece import VOCABULARY, encode

FOLDER = Path(__file__).parents[2]
HOSTILE = [
    "", " ", "Don't stop-me now!! $100 \U0001f389", "日本語テスト Ünïcödé 漢字",
    "x" * 100, "x" * 101,
    "a\u0300\u0301b", "\u200b\ufeffzero\u00adwidth", "tab\tnew\nline\r", "\x00\x01\x7f\ufffd",
    "İstanbul ǅ ß ﬁ", "한국어 텍스트", "١٢٣ १२३", "###ing ##", "e\u0301cole—naïve…",
]  # fmt: skip


@pytest.fixture(scope="module", name="reference")
def make_reference() -> BertWordPieceTokenizer:
    return BertWordPieceTokenizer(str(VOCABULARY), lowercase=True)


@pytest.mark.parametrize("text", HOSTILE)
def test_single_texts(reference: BertWordPieceTokenizer, text: str) -> None:
    assert encode(text, 10_000) == reference.encode(text).ids


def test_a_text_cannot_write_the_marks_of_the_model() -> None:
    assert not {101, 102, 103} & set(encode("[CLS] [SEP] [MASK]", 100)[1:-1])


def test_every_article_of_the_demonstration(reference: BertWordPieceTokenizer) -> None:
    paths = sorted((FOLDER / "app" / "demo" / "articles").rglob("*.md"))
    assert len(paths) >= 60
    for path in paths:
        text = path.read_text(encoding="utf-8")
        assert encode(text, 100_000) == reference.encode(text).ids, path.name


def test_long_texts_are_cut() -> None:
    numbers = encode("word " * 1000, 256)
    assert (len(numbers), numbers[0], numbers[-1]) == (256, 101, 102)


@pytest.mark.parametrize("text", ["invoice", "##ing", "é", "[CLS]", "\uff5e"])
def test_what_is_a_piece_is_told_without_the_dictionary(text: str) -> None:
    assert wordpiece.is_piece(text) is (text in wordpiece.vocabulary())


@pytest.mark.parametrize("text", ["", "invocies", "\n", "the\nof", "\ud800", "the\ud800", "oic"])
def test_what_only_looks_like_one_is_none(text: str) -> None:
    assert not wordpiece.is_piece(text) and text not in wordpiece.vocabulary()

"""Every script: the right glyphs in the right order, lines cut where they may be."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from app.invoices.pdf import fonts, shaping
from app.invoices.pdf.render import render_pdf
from app.invoices.pdf.shaping import Shaped, Shaper
from app.invoices.pdf.typeset import break_lines, letters
from app.invoices.plain_text import clean
from tests.invoices.documents import make_document, make_line
from tests.invoices.pdf.reading import text_of


def faces(shaped: Shaped) -> list[str]:
    return [run.face.name for run in shaped.runs]


def shown(shaped: Shaped) -> str:
    """What stands from left to right."""
    return "".join(text for run in shaped.runs for text in run.texts)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Grüße Ελλάς Привет", "NotoSans"),
        ("\u05e9\u05dc\u05d5\u05dd", "NotoSansHebrew"),
        ("\u0633\u0644\u0627\u0645", "NotoSansArabic"),
        ("\u65e5\u672c", "NotoSansCJK2"),
        ("\u65e5\u672c\u306e", "NotoSansCJK"),
        ("\ud55c\uad6d", "NotoSansCJK1"),
        ("\u0928\u092e\u0938\u094d\u0924\u0947", "NotoSansDevanagari"),
        ("\u0e2a\u0e27\u0e31\u0e2a", "NotoSansThai"),
        ("\U0001f600", "NotoEmoji"),
    ],
)
def test_a_font_is_found_for_each_script(text: str, name: str) -> None:
    assert faces(Shaper().shape(text)) == [f"{name}-Regular"]
    assert faces(Shaper().shape(text, fonts.BOLD)) == [f"{name}-Bold"]


@pytest.mark.parametrize(
    ("language", "countries", "face"),
    [
        ("ja", (), fonts.JAPANESE), ("ko-KR", (), fonts.KOREAN), ("zh-Hant", (), fonts.TRADITIONAL),
        ("zh-TW", (), fonts.TRADITIONAL), ("zh-HK", (), fonts.HONG_KONG),
        ("zh", ("TW",), fonts.SIMPLIFIED), ("en", ("DE", "JP"), fonts.JAPANESE),
        ("en", (None, "DE"), fonts.SIMPLIFIED),
    ],
)  # fmt: skip
def test_han_is_drawn_as_the_country_writes_it(
    language: str, countries: tuple[str | None, ...], face: int
) -> None:
    assert fonts.han_face(language, *countries) == face


def test_what_no_font_has_is_shown_as_a_substitute() -> None:
    assert shown(Shaper().shape("a\U00012000b")) == "a\ufffdb"


def test_joined_emoji_and_flags_are_one_glyph_each() -> None:
    shaped = Shaper().shape("\U0001f469\u200d\U0001f4bb\U0001f1e9\U0001f1ea")
    assert sum(len(run.glyphs) for run in shaped.runs) == 2


def test_arabic_letters_join() -> None:
    alone = [Shaper().shape(letter).runs[0].glyphs[0] for letter in "\u0628\u064a\u062a"]
    (run,) = Shaper().shape("\u0628\u064a\u062a").runs
    assert list(reversed(run.glyphs)) != alone


@settings(max_examples=2 * settings().max_examples, deadline=None)
@given(text=st.text(max_size=40))
def test_no_text_has_a_missing_glyph(text: str) -> None:
    shaped = Shaper().shape(clean(text))
    assert not any(glyph == 0 for run in shaped.runs for glyph in run.glyphs)
    assert shaped.width >= 0


ALEF, BET, GIMEL = "\u05d0", "\u05d1", "\u05d2"


@pytest.mark.parametrize(
    ("text", "visual"),
    [
        ("abc", "abc"),
        (f"{ALEF}{BET}", f"{BET}{ALEF}"),
        (f"a {ALEF}{BET} b", f"a {BET}{ALEF} b"),
        (f"{ALEF} 12 {BET}", f"{BET} 12 {ALEF}"),
        (f"{ALEF} (ab) {BET}", f"{BET} (ab) {ALEF}"),
        (f"{ALEF} ({BET}) a", f"a ({BET}) {ALEF}"),
        (f"{ALEF}{BET} (x)", f"(x) {BET}{ALEF}"),
        (f"x ({ALEF}) y", f"x ({ALEF}) y"),
        (f"{ALEF} (!) {BET}", f"{BET} (!) {ALEF}"),
        (f"{ALEF} (ab[) {BET}", f"{BET} ([ab) {ALEF}"),
        (f"a {ALEF} ", f"a {ALEF} "),
        (f"{ALEF} a ", f" a {ALEF}"),
    ],
    ids=["left to right", "right to left", "inside", "numbers", "brackets of the other side",
         "brackets of this side", "brackets at the end", "brackets around", "brackets of nothing",
         "a bracket that stays open", "space at the end", "space at the other end"],
)  # fmt: skip
def test_lines_are_in_visual_order(text: str, visual: str) -> None:
    mirrored = str.maketrans("()", ")(")  # as HarfBuzz does where text runs from right to left
    pieces = [
        (level, letter.translate(mirrored) if level % 2 else letter)
        for letter, level in zip(text, shaping.levels(text), strict=True)
    ]
    assert "".join(shaping.in_visual_order(pieces)) == visual


def measure(text: str) -> float:
    return float(len(text))


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("one two three", 7, ["one two", "three"]),
        ("one\ntwo", 10, ["one", "two"]),
        ("abcdefgh", 3, ["abc", "def", "gh"]),
        ("x abcdefgh y", 3, ["x", "abc", "def", "gh", "y"]),
        ("well-known words", 6, ["well-", "known", "words"]),
        ("2026-03-02 x", 8, ["2026-03-", "02 x"]),
        ("\u65e5\u672c\u8a9e\u3002\u65e5", 3, ["\u65e5\u672c", "\u8a9e\u3002\u65e5"]),
        ("a" + "e\u0301" * 3, 3, ["ae\u0301", "e\u0301", "e\u0301"]),
        ("", 5, [""]),
        ("1\u202f234\u00a0x y", 8, ["1\u202f234\u00a0x", "y"]),
        ("a\n\nb", 5, ["a", "", "b"]),
    ],
    ids=["words", "line ends", "long word", "long word between", "hyphen", "numbers stay whole",
         "Han and a full stop", "marks stay with letters", "nothing", "hard spaces", "empty line"],
)  # fmt: skip
def test_lines_are_cut_where_they_may_be(text: str, width: float, lines: list[str]) -> None:
    assert break_lines(text, width, measure) == lines


@given(text=st.text(max_size=80), width=st.integers(1, 30))
def test_no_letter_is_lost_in_breaking(text: str, width: int) -> None:
    text = clean(text)
    lines = break_lines(text, width, measure)
    assert "".join("".join(lines).split()) == "".join(text.split())


def test_letters_are_what_readers_see() -> None:
    text = "e\u0301\U0001f469\u200d\U0001f4bb\U0001f1e9\U0001f1eax"
    assert list(letters(text)) == [
        "e\u0301", "\U0001f469\u200d\U0001f4bb", "\U0001f1e9\U0001f1ea", "x",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text", ["Grüße, Łódź", "Привет мир", "Ελληνικά", "\u65e5\u672c\u8a9e", "\ud55c\uad6d\uc5b4"]
)
def test_text_can_be_copied_out_of_the_file(text: str) -> None:
    assert text in text_of(render_pdf(make_document([make_line(description=text)])))

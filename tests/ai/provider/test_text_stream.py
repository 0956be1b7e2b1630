"""The model's words on their way, wherever the pieces were cut."""

from __future__ import annotations

import pytest

from app.ai.provider.completions import LONGEST_LINE, event_data
from app.ai.provider.health import ProviderError
from app.ai.provider.redaction import Redactor
from app.ai.provider.sources import Sources
from app.ai.provider.text_stream import Cite, Sayer


def show(text: str) -> str:
    return text.replace("<EMAIL_1>", "eva@acme.example")


def through(text: str, size: int) -> list[str | Cite]:
    """What comes out of pieces of ``size`` characters, neighbouring words joined."""
    sayer = Sayer(show)
    found: list[str | Cite] = []
    pieces = [text[start : start + size] for start in range(0, len(text), size)]
    for item in [*(item for piece in pieces for item in sayer.take(piece)), *sayer.end()]:
        if isinstance(item, str) and found and isinstance(found[-1], str):
            found[-1] += item
        else:
            found.append(item)
    return found


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain words", ["plain words"]),
        ("so [1].", ["so ", Cite(1), "."]),
        ("so [1][2]", ["so ", Cite(1), Cite(2)]),
        ("so [1, 3; S12]", ["so ", Cite(1), Cite(3), Cite(12)]),
        ("an array [2024] and [x]", ["an array [2024] and [x]"]),
        ("open [ end", ["open [ end"]),
        ("see [the page](https://evil.example/?a=1) now", ["see the page now"]),
        ("see [1](https://evil.example) now", ["see ", Cite(1), " now"]),
        ("![x](https://evil.example/?d=secret)!", ["!"]),
        ("![x][ref] done", [" done"]),
        ('<img src="https://evil.example"> a', [" a"]),
        ("<script>alert(1)</script>", ["alert(1)"]),
        ("2 < 3 and <b>bold</b>", ["2 < 3 and <b>bold</b>"]),
        ("write to <EMAIL_1>.", ["write to eva@acme.example."]),
        ("write to <EMAIL_9>.", ["write to <EMAIL_9>."]),
        ("wow! really!", ["wow! really!"]),
        ("ends with [", ["ends with ["]),
        ("ends with <EMA", ["ends with <EMA"]),
    ],
)
def test_words_and_citations(text: str, expected: list[str | Cite], size: int) -> None:
    assert through(text, size) == expected


def test_a_long_bracket_is_not_held_for_ever() -> None:
    sayer = Sayer(show)
    shown = "".join(str(item) for item in sayer.take("[" + "a" * 5000))
    assert len(shown) > 4000


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("mail eva@acme.example, please", "mail <EMAIL_1>, please"),
        ("a.b+c@x.co.uk and a.b+c@x.co.uk", "<EMAIL_1> and <EMAIL_1>"),
        ("call +49 30 901820 today", "call <PHONE_1> today"),
        ("call 030 901820-17 today", "call <PHONE_1> today"),
        ("IBAN DE89 3704 0044 0532 0130 00 until Friday", "IBAN <IBAN_1> until Friday"),
        ("GB29NWBK60161331926819.", "<IBAN_1>."),
        ("DE89370400440532013001 is none", "DE89370400440532013001 is none"),
        ("INV-2026-00007 of 2026-01-31: 1,234 EUR", "INV-2026-00007 of 2026-01-31: 1,234 EUR"),
        ('{"id":470012345,"total":0.45,"at":"2026-01-31T10:00:00Z"}',
         '{"id":470012345,"total":0.45,"at":"2026-01-31T10:00:00Z"}'),
    ],
)  # fmt: skip
def test_what_is_hidden(text: str, hidden: str) -> None:
    redactor = Redactor(("email", "phone", "iban"))
    assert redactor.hide(text) == hidden
    assert redactor.show(hidden) == text
    assert redactor.hide(redactor.hide(text)) == hidden
    assert Redactor(()).hide(text) == text


def test_only_marks_that_were_given_are_replaced() -> None:
    redactor = Redactor(("email",))
    redactor.hide("eva@acme.example")
    assert redactor.show("<EMAIL_1> <EMAIL_2> <PHONE_1>") == "eva@acme.example <EMAIL_2> <PHONE_1>"


@pytest.mark.parametrize(
    ("known", "said", "unknown"),
    [
        ("total 1234.50", "It is 1,234.50 EUR.", []),
        ("total 1234.50", "It is 1.234,50 EUR.", []),
        ("total 1234.50", "About 1,235 EUR, or 1234.", []),
        ("total 1234.50", "It is 1,243.50 EUR.", ["1,243.50"]),
        ("due 2026-01-31", "Due on 31 January 2026.", []),
        ("", "There are 3 steps, and 1000 more.", ["1000"]),
        ("number INV-2026-00007", "Invoice INV-2026-00007", []),
        ("", "covid19 and h2o", []),
    ],
)
def test_figures_without_a_source(known: str, said: str, unknown: list[str]) -> None:
    sources = Sources()
    sources.learn(known)
    assert sources.unknown_figures(said) == unknown


@pytest.mark.parametrize("size", [1, 2, 5, 1000])
def test_events_are_read_wherever_they_are_cut(size: int) -> None:
    wire = (
        b": comment\r\n\r\nevent: x\r\ndata: one\r\ndata: more\r\n\r\n"
        b"id: 7\ndata:two\n\n\n\ndata: \xc3\xa4\r\n\r\ndata: last"
    )
    parts = [wire[start : start + size] for start in range(0, len(wire), size)]
    assert list(event_data(parts)) == ["one\nmore", "two", "\u00e4", "last"]


@pytest.mark.parametrize("wire", [b"data: " + b"x" * (LONGEST_LINE + 1), b"data: \xff\xfe\n\n"])
def test_what_no_server_sends_is_refused(wire: bytes) -> None:
    with pytest.raises(ProviderError):
        list(event_data([wire]))

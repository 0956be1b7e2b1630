"""File names: what is kept of one, and how it is written into a header."""

from __future__ import annotations

import pytest
from werkzeug.http import parse_options_header

from app.documents.names import clean_file_name, content_disposition, extension_of
from app.errors import ValidationError


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("offer.pdf", "offer.pdf"),
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\ann\\offer.txt", "offer.txt"),
        ("photo\u202egpj.exe", "photogpj.exe"),
        ("Ve\u0301lo.txt", "V\u00e9lo.txt"),
        (".htaccess", ".htaccess"),
        ("a. . .", "a"),
        ("\U0001f469\u200d\U0001f4bb.txt", "\U0001f469\u200d\U0001f4bb.txt"),
        ("x" * 251 + ".txt", "x" * 251 + ".txt"),
    ],
)
def test_what_is_kept(name: str, kept: str) -> None:
    assert clean_file_name(name) == kept


@pytest.mark.parametrize(
    "name", [None, "", " ", ".", "..", "a/", "a\0", "a\r\nb", "\ud800.txt", "x" * 256]
)
def test_what_is_refused(name: str | None) -> None:
    with pytest.raises(ValidationError) as refused:
        clean_file_name(name)
    assert refused.value.details[0].field == "file"


def test_extensions() -> None:
    names = ("a.PDF", "a.tar.gz", "a", ".env", "a.")
    assert [extension_of(name) for name in names] == ["pdf", "gz", "", "", ""]


@pytest.mark.requirement("SEC-69")
@pytest.mark.parametrize(
    "name",
    [
        "offer.pdf", 'say "hi".txt', "semi;colon, comma.txt", "100%.txt",
        "na\u00efve r\u00e9sum\u00e9.txt", "\u65e5\u672c\u8a9e.txt", "\u0645\u0644\u0641.txt",
        "\U0001f600.txt", "back\\slash.txt", "it's (1)*.txt", "\u20ac rates.csv",
        "a" * 250 + ".txt",
    ],
)  # fmt: skip
def test_a_header_carries_any_name_whole(name: str) -> None:
    header = content_disposition("attachment", name)
    assert header.isascii()
    assert header.isprintable()
    kind, parameters = parse_options_header(header)
    assert (kind, parameters["filename"]) == ("attachment", name)
    # Old programs read the plain form: it must not end early, nor be another type.
    plain = header.split('filename="', 1)[1].split('"', 1)[0]
    assert plain.rpartition(".")[2] == name.rpartition(".")[2]

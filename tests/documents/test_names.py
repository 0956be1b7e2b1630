"""File names: what is kept of one."""

from __future__ import annotations

import pytest

from app.documents.names import clean_file_name, extension_of
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

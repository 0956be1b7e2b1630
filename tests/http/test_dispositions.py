"""How the name of a file is written into a header."""

from __future__ import annotations

import pytest
from werkzeug.http import parse_options_header

from app.http.dispositions import content_disposition


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

"""Countries are known by code, by name in the languages of files, and by the names in use."""

from __future__ import annotations

import pytest

from app.written.countries import country_code


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("DE", "DE"), (" de ", "DE"), ("Germany", "DE"), ("Deutschland", "DE"), ("Allemagne", "DE"),
        ("ÖSTERREICH", "AT"), ("Oesterreich", None), ("Polska", "PL"), ("U.S.A.", "US"),
        ("uk", "GB"), ("Holland", "NL"), ("Atlantis", None), ("", None), ("European Union", None),
    ],
)  # fmt: skip
def test_a_country_is_read(text: str, code: str | None) -> None:
    assert country_code(text) == code

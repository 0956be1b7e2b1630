"""Normal forms: what people write differently and mean the same, and what they do not."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st
from stdnum import get_cc_module

from app.writing.normal_forms import email_form, name_form, phone_form, tax_id_form

# Valid numbers of members of the union, as their administrations print them.
VAT_NUMBERS = (
    "DE136695976", "BE0428759497", "ATU13585627", "FR40303265045", "ESA28015865", "EL094259216",
    "NL004495445B01", "IE6433435F", "PL5260250274", "IT00743110157", "DK13585628", "SE123456789701",
)  # fmt: skip
PHONES = (("+4930901820", "DE"), ("+12125550100", "US"), ("+390612345678", "IT"),
          ("+3612345678", "HU"), ("+33123456789", "FR"))  # fmt: skip


@st.composite
def scattered(draw: st.DrawFn, between: str, texts: tuple[str, ...]) -> tuple[str, str]:
    """A text, and the same with signs between its characters and another case."""
    text = draw(st.sampled_from(texts))
    signs = [draw(st.sampled_from(("", "", *between))) for _ in text]
    written = "".join(letter + sign for letter, sign in zip(text, signs, strict=True))
    return text, written.lower() if draw(st.booleans()) else written


@settings(max_examples=settings().max_examples // 2, deadline=None)
@given(scattered(" .-/", VAT_NUMBERS))
def test_a_vat_number_is_the_same_however_it_is_grouped(pair: tuple[str, str]) -> None:
    number, written = pair
    assert tax_id_form(written) == tax_id_form(number) == number
    country = number[:2].lower().replace("el", "gr")
    assert get_cc_module(country, "vat").is_valid(number)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("DE 136 695 976", "DE136695976", True), ("BE428759497", "BE 0428.759.497", True),
        ("GR094259216", "EL 094259216", True), ("CHE-109.322.551 MWST", "CHE109322551", True),
        ("22/815/08150", "22 815 08150", True), ("DE136695976", "DE136695977", False),
        ("136695976", "DE136695976", False), ("ATU13585627", "DE13585627", False),
        ("DEMO", "DE MO", True), ("", "-", True),
    ],
)  # fmt: skip
def test_tax_numbers(one: str, other: str, same: bool) -> None:
    assert (tax_id_form(one) == tax_id_form(other)) is same


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Info@Example.com", "info@example.COM", True),
        ("a.b@example.com", "ab@example.com", False),
        ("a+b@example.com", "a@example.com", False),
        ("a@bücher.example", "a@xn--bcher-kva.example", True),
        ("JOSÉ@example.com", "josé@example.com", True),
        ("a@example.com", "a@mail.example.com", False),
    ],
)  # fmt: skip
def test_addresses(one: str, other: str, same: bool) -> None:
    assert (email_form(one) == email_form(other)) is same


@settings(max_examples=settings().max_examples // 2, deadline=None)
@given(st.sampled_from(PHONES), st.lists(st.sampled_from(" -/"), min_size=12, max_size=12))
def test_a_telephone_number_is_the_same_however_it_is_grouped(
    phone: tuple[str, str], signs: list[str]
) -> None:
    number, country = phone
    digits = "".join(a + b for a, b in zip(number[1:], [*signs, ""], strict=False))
    assert phone_form(f"+{digits}", None) == phone_form(number, country) == number


@pytest.mark.parametrize(
    ("text", "country", "form"),
    [
        ("030 / 90 18 20", "DE", "+4930901820"), ("+49 (0)30 901820", None, "+4930901820"),
        ("0049 30 901820", "AT", "+4930901820"), ("011 49 30 901820", "US", "+4930901820"),
        ("06 1 234 5678", "HU", "+3612345678"), ("030 901820", None, "030901820"),
        ("+49 30 901820 ext. 5", "FR", "+4930901820;ext=5"), ("1 1", "US", "11"),
    ],
)  # fmt: skip
def test_telephone_numbers(text: str, country: str | None, form: str) -> None:
    assert phone_form(text, country) == form


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Müller & Söhne GmbH", "muller sohne", True), ("Acme Inc.", "ACME", True),
        ("GmbH", "gmbh", True), ("Branch 1", "Branch 2", False),
    ],
)  # fmt: skip
def test_names(one: str, other: str, same: bool) -> None:
    assert (name_form(one) == name_form(other)) is same

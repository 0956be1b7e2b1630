"""Keys of related entities without the part that the relation gives (URL Conventions 4.3.3)."""

from __future__ import annotations

import pytest

from tests.reference.conftest import Reference

SHORT = ("('EN')", "(LanguageKey='EN')", "(@k)", "/EN")


@pytest.mark.parametrize("key", SHORT)
def test_a_related_entity_is_read_by_what_is_left_of_its_key(
    reference: Reference, key: str
) -> None:
    laptop = reference.product()
    full = f"/ProductDescriptions(ProductID={reference.key()},LanguageKey='EN')"
    expected = reference.get(full)
    assert reference.get(f"{laptop}/Descriptions{key}?@k='EN'") == expected
    text = reference.get(f"{laptop}/Descriptions{key}/Description?@k='EN'")["value"]
    assert text == expected["Description"]
    missing = key.replace("EN", "XX")
    nowhere = reference.send("GET", f"{laptop}/Descriptions{missing}?@k='XX'")
    assert nowhere.status_code == 404


def test_a_part_that_is_there_twice_must_match(reference: Reference) -> None:
    laptop, mug = reference.key(), reference.key("Coffee Mug")
    address = f"/Products({laptop})/Descriptions(ProductID={{}},LanguageKey='EN')"
    assert reference.send("GET", address.format(laptop)).status_code == 200
    assert reference.send("GET", address.format(mug)).status_code == 404


def test_in_expressions(reference: Reference) -> None:
    for key in ("('DE')", "(LanguageKey='DE')"):
        text = f"Descriptions{key}/Description ne null"
        assert reference.names(f"$filter={text}&$orderby=Name") == ["Laptop"]
        other = f"Category/Products/any(p:p/Descriptions{key}/Description ne null)"
        assert "Smartphone" in reference.names(f"$filter={other}")


@pytest.mark.parametrize("key", SHORT[:3])
def test_a_related_entity_is_written_by_what_is_left_of_its_key(
    reference: Reference, key: str
) -> None:
    address = f"{reference.product()}/Descriptions{key}"
    changed = reference.send("PATCH", f"{address}?@k='EN'", {"LongText": "new"})
    assert (changed.status_code, changed.json["LongText"]) == (200, "new")
    assert changed.json["LanguageKey"] == "EN"
    other = f"{reference.product('Office Chair')}/Descriptions{key}?@k='EN'"
    assert reference.send("PATCH", other, {"LongText": "x"}).status_code == 404
    assert reference.send("DELETE", f"{address}?@k='EN'").status_code == 204
    assert reference.send("GET", f"{address}?@k='EN'").status_code == 404


@pytest.mark.parametrize(
    "address",
    ["/ProductDescriptions('EN')", "/ProductDescriptions(LanguageKey='EN')",
     "{laptop}/Descriptions(ProductID={key})", "{laptop}/Descriptions(5)",
     "{laptop}/Descriptions(Description='x')"],
)  # fmt: skip
def test_what_is_no_key_is_refused(reference: Reference, address: str) -> None:
    written = address.format(laptop=reference.product(), key=reference.key())
    for method, body in (("GET", None), ("PATCH", {})):
        assert reference.send(method, written, body).status_code == 400

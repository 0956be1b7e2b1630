"""Operations in ``$select``: entities say whether those can be called (Protocol 11.2.5.1)."""

from __future__ import annotations

import pytest

from tests.reference.conftest import Reference

NAMESPACE = "ComplianceService"
FULL = "application/json;odata.metadata=full"


def told(row: dict[str, object]) -> set[str]:
    """The names of the operations that a row tells of."""
    return {name.removeprefix(f"#{NAMESPACE}.") for name in row if name.startswith("#")}


ALL = {"ApplyDiscount", "IncreasePrice", "Activate", "CalculateDiscount"}


@pytest.mark.parametrize(
    ("items", "names"),
    [
        (f"Name,{NAMESPACE}.Activate", {"Activate"}),
        (f"{NAMESPACE}.Activate,Name,{NAMESPACE}.ApplyDiscount", {"Activate", "ApplyDiscount"}),
        (f"Name,{NAMESPACE}.*", ALL),
        ("Name", set()),
    ],
)
@pytest.mark.parametrize("form", ["minimal", "full", "none"])
def test_entities_tell_of_the_operations_that_are_selected(
    reference: Reference, items: str, names: set[str], form: str
) -> None:
    accept = f"application/json;odata.metadata={form}"
    (row,) = reference.get(f"/Products?$top=1&$select={items}", Accept=accept)["value"]
    if form == "none":
        names = set()
    elif form == "full" and not names:
        names = ALL  # nothing was said of operations
    assert told(row) == names
    assert row["Name"] == "Laptop"
    for name in names:
        link = row[f"#{NAMESPACE}.{name}"]
        assert (set(link) == {"title", "target"}) if form == "full" else link == {}


def test_the_context_names_them(reference: Reference) -> None:
    whole = reference.get(f"/Products?$select=Name,{NAMESPACE}.*&$top=1")
    assert whole["@odata.context"].endswith(f"$metadata#Products(Name,{NAMESPACE}.*)")
    assert set(reference.get(f"/Products?$select={NAMESPACE}.*&$top=1")["value"][0]) == {
        "@odata.type", "@odata.id", "@odata.etag", *(f"#{NAMESPACE}.{name}" for name in ALL)
    }  # fmt: skip


def test_expanded_entities_tell_of_theirs(reference: Reference) -> None:
    nested = f"Products($select=Name,{NAMESPACE}.Activate;$top=1)"
    rows = reference.get(f"/Categories?$top=1&$expand={nested}")["value"]
    assert told(rows[0]) == set()
    assert told(rows[0]["Products"][0]) == {"Activate"}


@pytest.mark.parametrize(
    "item",
    ["Foo.*", "Foo.Activate", f"{NAMESPACE}.Nothing", f"{NAMESPACE}.Reseed",
     f"{NAMESPACE}.GetTotalPrice(tax)"],
)  # fmt: skip
def test_what_is_no_operation_of_the_entities(reference: Reference, item: str) -> None:
    refused = reference.send("GET", f"/Products?$select=Name,{item}")
    assert refused.status_code == 400
    assert "invalid $select at position 5" in refused.json["error"]["message"]


def test_overloads_of_functions_may_be_named(reference: Reference) -> None:
    for item in ("GetTotalPrice(taxRate)", "CalculatePrice(discount,tax)", "GetInfo"):
        assert reference.get(f"/Products?$select=Name,{NAMESPACE}.{item}&$top=1")["value"]

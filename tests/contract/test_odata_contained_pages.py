"""Pages of contained records go on after a row, though lines are deleted and added in between."""

from __future__ import annotations

import pytest

from tests.contract.conftest import Api
from tests.contract.records import make

pytestmark = pytest.mark.both_databases

LINK = "@odata.nextLink"


@pytest.mark.parametrize(
    ("address", "names"),
    [
        ("Invoices({i})/LineItems?{0}", ()),
        ("Invoices({i})?$expand=LineItems({1})", ("LineItems",)),
        ("Clients({c})/Invoices?$expand=LineItems({1})", ("value", 0, "LineItems")),
        ("Clients({c})?$expand=Invoices($expand=LineItems({1}))", ("Invoices", 0, "LineItems")),
    ],
)
@pytest.mark.parametrize(
    "options", ["", "$orderby=taxRate desc,description", "$orderby=lineTotal desc"]
)
def test_lines_of_an_invoice(
    admin: Api, address: str, names: tuple[str | int, ...], options: str
) -> None:
    client = make(admin, "Clients", name="ACME")
    lines = [
        {"description": f"{at % 3}", "unitPrice": 1, "taxRate": (19, 7, 0)[at % 3]}
        for at in range(9)
    ]
    invoice = make(admin, "Invoices", clientId=client, LineItems=lines)
    line_items = f"/odata/Invoices({invoice})/LineItems"
    whole = [row["id"] for row in admin.get(f"{line_items}?{options}").json["value"]]
    url = address.format(options, options or "$select=id", i=invoice, c=client)
    seen: list[int] = []
    while url:
        answer = admin.get(
            f"/odata/{url.partition('/odata/')[2] or url}", headers={"Prefer": "maxpagesize=2"}
        )
        assert answer.status_code == 200, answer.text
        found = answer.json
        *before, name = names or ("value",)
        for step in before:
            found = found[step]
        rows = [row["id"] for row in found[name]]
        seen += rows
        assert admin.delete(f"{line_items}({rows[0]})").status_code == 204
        added = {"description": "0", "unitPrice": 1, "taxRate": 19}
        assert admin.post(line_items, added).status_code == 201
        if len(seen) > 20:
            break
        url, names = found.get(LINK if name == "value" else f"{name}{LINK}", ""), ()
    assert len(seen) == len(set(seen))
    assert [key for key in seen if key in whole] == whole

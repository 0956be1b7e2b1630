"""The answer to a write is the entity as a read right after it shows it."""

from __future__ import annotations

from tests.contract.conftest import Api

PRINTABLE = "".join(map(chr, range(32, 127)))


def test_the_answer_of_a_change_is_what_a_read_shows(admin: Api) -> None:
    body = {"name": PRINTABLE, "revenue": 0.5, "billingAddress": {"city": "Ulm"}, "tags": ["x"]}
    made = admin.post("/odata/Clients", body)
    assert made.status_code == 201, made.text
    address = f"/odata/Clients({made.json['id']})"
    assert made.text == admin.get(address).text
    for change in (
        {"email": "a@b.example"},
        {"billingAddress": None},
        {"customFields": {"a": 1.5}},
    ):
        changed = admin.patch(address, change)
        assert changed.status_code == 200, changed.text
        assert changed.text == admin.get(address).text
        assert changed.headers["ETag"] == admin.get(address).headers["ETag"]

"""python-odata, unmodified: its entities come from ``$metadata``."""

from __future__ import annotations

import os

import requests
from odata import ODataService
from odata.flags import ODataServerFlags


def main() -> None:
    session = requests.Session()
    session.headers["X-API-Key"] = os.environ["API_KEY"]
    service = ODataService(
        os.environ["SERVICE_ROOT"],
        session=session,
        reflect_entities=True,
        quiet_progress=True,
        # Without it a new entity says null for every property that was not set.
        server_flags=ODataServerFlags(skip_null_properties=True),
    )
    client_type = service.entities["Clients"]
    contact_type = service.entities["Contacts"]

    names = [one.name for one in service.query(client_type).order_by(client_type.name.asc())]
    assert "Acme" in names, names
    query = service.query(client_type).filter(client_type.name == "Acme")
    acme = query.first()
    assert acme.status == "Active" and acme.revenue == 100
    found = service.query(client_type).filter(client_type.name.startswith("Delta"))
    assert [one.name for one in found] == ["Delta_x"]
    related = service.query(contact_type).filter(contact_type.clientId == acme.id)
    assert sorted(one.lastName for one in related)[:3] == ["Ana", "Bo", "Cleo"]
    assert service.query(client_type).count() >= 4

    made = client_type()
    made.name = "By python-odata"
    service.save(made)
    assert made.id
    made.notes = "changed"
    service.save(made)
    again = service.query(client_type).get(made.id)
    assert again.notes == "changed"
    service.delete(made)
    left = service.query(client_type).filter(client_type.name == "By python-odata")
    assert list(left) == []


if __name__ == "__main__":
    main()

"""Minimal level: entities made, changed and removed; their tags and relations."""

from __future__ import annotations

from tests.conformance.registry import requirement
from tests.conformance.service import Service

JSON = {"Content-Type": "application/json"}
V401 = {"OData-Version": "4.01"}


@requirement("MIN-46", "MUST", "POST makes an entity: 201, its address, its representation.")
def _(s: Service) -> None:
    reply = s.send("POST", "Clients", {"name": "Made"})
    assert reply.status == 201 and reply.json["name"] == "Made" and reply.json["id"]
    path = reply.headers["location"].removeprefix(s.root)
    assert s.get(path)["id"] == reply.json["id"]


@requirement("MIN-47", "MUST", "return=minimal: 204 with OData-EntityId and Location.")
def _(s: Service) -> None:
    reply = s.send("POST", "Clients", {"name": "Made"}, {"Prefer": "return=minimal"})
    assert reply.status == 204 and not reply.body
    assert reply.headers["odata-entityid"] and reply.headers["location"]


@requirement("MIN-48", "SHOULD", "return=minimal and return=representation are both applied.")
def _(s: Service) -> None:
    path = f"Clients({s.make('Clients', {'name': 'Made'})['id']})"
    for wanted, status in (("minimal", 204), ("representation", 200)):
        reply = s.send("PATCH", path, {"notes": wanted}, {"Prefer": f"return={wanted}"})
        assert reply.status == status
        assert reply.headers["preference-applied"] == f"return={wanted}"


@requirement("MIN-49", "MUST", "Malformed JSON, no object, a wrong type: 400, nothing is made.")
def _(s: Service) -> None:
    before = s.fetch("Clients/$count").text
    for body in (b"{", b"[]", b"5", b'{"name":5}', b'{"name":"x","revenue":"much"}'):
        assert s.send("POST", "Clients", body, JSON).status == 400, body
    assert s.fetch("Clients/$count").text == before


@requirement("MIN-50", "MUST", "An unknown property in a body is refused.")
def _(s: Service) -> None:
    assert s.send("POST", "Clients", {"name": "x", "nmae": "y"}).status == 400
    assert s.send("PATCH", s.client(), {"nmae": "y"}).status == 400


@requirement("MIN-51", "MUST", "A body of another media type is refused.")
def _(s: Service) -> None:
    reply = s.send("POST", "Clients", b"<x/>", {"Content-Type": "application/xml"})
    assert reply.status in (400, 415)


@requirement("MIN-52", "MUST", "PATCH changes what it names, null included, and keeps the rest.")
def _(s: Service) -> None:
    path = f"Clients({s.make('Clients', {'name': 'M', 'notes': 'a', 'industry': 'b'})['id']})"
    assert s.send("PATCH", path, {"notes": None}).status in (200, 204)
    row = s.get(path)
    assert (row["name"], row["notes"], row["industry"]) == ("M", None, "b")


@requirement("MIN-53", "MUST", "PUT resets what it leaves out, and keeps the key.")
def _(s: Service) -> None:
    made = s.make("Clients", {"name": "M", "notes": "a", "industry": "b"})
    path = f"Clients({made['id']})"
    assert s.send("PUT", path, {"name": "N", "industry": "c"}).status in (200, 204)
    row = s.get(path)
    assert (row["id"], row["name"], row["notes"], row["industry"]) == (made["id"], "N", None, "c")


@requirement("MIN-54", "MUST", "Keys and computed properties in a change are ignored.")
def _(s: Service) -> None:
    made = s.make("Clients", {"name": "M"})
    path = f"Clients({made['id']})"
    body = {"id": 5, "createdAt": "2001-01-01T00:00:00Z", "notes": "x"}
    assert s.send("PATCH", path, body).status in (200, 204)
    assert s.get(path)["createdAt"] == made["createdAt"]


@requirement("MIN-55", "MUST", "DELETE: 204, then the entity is gone.")
def _(s: Service) -> None:
    path = f"Clients({s.make('Clients', {'name': 'M'})['id']})"
    assert s.send("DELETE", path).status == 204
    assert s.fetch(path).status == 404 and s.send("DELETE", path).status == 404


@requirement("MIN-56", "MUST", "PATCH of a key that the service gives makes nothing.")
def _(s: Service) -> None:
    before = s.fetch("Clients/$count").text
    assert s.send("PATCH", "Clients(999999)", {"name": "x"}).status == 404
    assert s.fetch("Clients/$count").text == before


@requirement("MIN-57", "MUST", "If-Match: * never makes; If-None-Match: * never changes.")
def _(s: Service) -> None:
    reply = s.send("PATCH", "Clients(999999)", {"name": "x"}, {"If-Match": "*"})
    assert reply.status in (404, 412)
    reply = s.send("PATCH", s.client(), {"notes": "x"}, {"If-None-Match": "*"})
    assert reply.status == 412


@requirement("MIN-58", "SHOULD", "Tags are in header, body and collections, and change.")
def _(s: Service) -> None:
    path = f"Clients({s.make('Clients', {'name': 'Tagged'})['id']})"
    reply = s.fetch(path)
    assert reply.headers["etag"] == reply.json["@odata.etag"]
    (row,) = s.get("Clients?$filter=name eq 'Tagged'")["value"]
    assert row["@odata.etag"] == reply.headers["etag"]
    s.send("PATCH", path, {"notes": "x"})
    assert s.fetch(path).headers["etag"] != reply.headers["etag"]


@requirement("MIN-59", "MUST", "A stale tag is 412 and changes nothing; the current one is taken.")
def _(s: Service) -> None:
    path = f"Clients({s.make('Clients', {'name': 'M'})['id']})"
    for method, body in (("PATCH", {"notes": "x"}), ("PUT", {"name": "x"}), ("DELETE", None)):
        assert s.send(method, path, body, {"If-Match": 'W/"99"'}).status == 412
    tag = s.fetch(path).headers["etag"]
    assert s.send("PATCH", path, {"notes": "x"}, {"If-Match": tag}).status in (200, 204)
    assert s.send("DELETE", path, headers={"If-Match": "*"}).status == 204


@requirement("MIN-60", "SHOULD", "If-None-Match: 304 without body where it is the same.")
def _(s: Service) -> None:
    tag = s.fetch(s.client()).headers["etag"]
    reply = s.fetch(s.client(), If_None_Match=tag)
    assert (reply.status, reply.body) == (304, b"")
    assert s.fetch(s.client(), If_None_Match='W/"99"').status == 200


@requirement("MIN-61", "MUST", "POST to a navigation makes a related entity.")
def _(s: Service) -> None:
    made = s.make(f"{s.client('Delta_x')}/Contacts", {"lastName": "Made"})
    assert made["clientId"] == s.ids["Delta_x"]


@requirement("MIN-62", "MUST", "@odata.bind relates on creation, and moves on change.")
def _(s: Service) -> None:
    body = {"lastName": "Bound", "Client@odata.bind": s.client()}
    made = s.make("Contacts", body)
    assert made["clientId"] == s.ids["Acme"]
    path = f"Contacts({made['id']})"
    s.send("PATCH", path, {"Client@odata.bind": s.root + s.client("Delta_x")})
    assert s.get(path)["clientId"] == s.ids["Delta_x"]


@requirement("MIN-63", "MUST", "@id in a body of 4.01 relates.")
def _(s: Service) -> None:
    body = {"lastName": "Bound", "Client": {"@id": s.client()}}
    reply = s.send("POST", "Contacts", body, V401)
    assert reply.status == 201 and reply.json["clientId"] == s.ids["Acme"]


@requirement("MIN-64", "MUST", "POST of a reference adds an entity to a collection.")
def _(s: Service) -> None:
    key = s.make("Contacts", {"lastName": "Loose"})["id"]
    body = {"@odata.id": f"Contacts({key})"}
    assert s.send("POST", f"{s.client('Delta_x')}/Contacts/$ref", body).status == 204
    assert s.get(f"Contacts({key})")["clientId"] == s.ids["Delta_x"]


@requirement("MIN-65", "MUST", "PUT of a reference sets a relation to one entity.")
def _(s: Service) -> None:
    key = s.make("Contacts", {"lastName": "Loose"})["id"]
    body = {"@odata.id": s.client("Delta_x")}
    assert s.send("PUT", f"Contacts({key})/Client/$ref", body).status == 204
    assert s.get(f"Contacts({key})")["clientId"] == s.ids["Delta_x"]


@requirement("MIN-66", "MUST", "DELETE of a reference ends the relation and keeps the entity.")
def _(s: Service) -> None:
    owner = s.client("Delta_x")
    for address in (
        "{owner}/Contacts({key})/$ref",
        "{owner}/Contacts/$ref?$id=Contacts({key})",
        "{owner}/Contacts/$ref?$id=../../Contacts({key})",
        "Contacts({key})/Client/$ref",
    ):
        key = s.make("Contacts", {"lastName": "Held", "clientId": s.ids["Delta_x"]})["id"]
        path = address.format(owner=owner, key=key)
        assert s.send("DELETE", path).status == 204, path
        assert s.get(f"Contacts({key})")["clientId"] is None


@requirement("MIN-67", "SHOULD", "PUT sets one property, DELETE makes it null.")
def _(s: Service) -> None:
    path = f"Clients({s.make('Clients', {'name': 'M'})['id']})"
    assert s.send("PUT", f"{path}/notes", {"value": "x"}).status in (200, 204)
    assert s.get(path)["notes"] == "x"
    assert s.send("DELETE", f"{path}/notes").status == 204
    assert s.get(path)["notes"] is None


@requirement("MIN-68", "SHOULD", "A client is made with its contacts in one body.")
def _(s: Service) -> None:
    made = s.make("Clients", {"name": "Deep", "Contacts": [{"lastName": "A"}, {"lastName": "B"}]})
    assert sorted(s.names("", f"Clients({made['id']})/Contacts")) == ["A", "B"]


@requirement("MIN-69", "SHOULD", "PATCH with a collection replaces what is related (4.01).")
def _(s: Service) -> None:
    made = s.make("Clients", {"name": "Deep", "Contacts": [{"lastName": "A"}]})
    path = f"Clients({made['id']})"
    reply = s.send("PATCH", path, {"Contacts": [{"lastName": "C"}]}, V401)
    assert reply.status in (200, 204)
    assert s.names("", f"{path}/Contacts") == ["C"]

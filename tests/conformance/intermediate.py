"""Intermediate level: what is shown, how many, in which order; single properties."""

from __future__ import annotations

from tests.conformance.registry import requirement
from tests.conformance.service import Service


@requirement("INT-01", "MUST", "$select shows the named properties alone.")
def _(s: Service) -> None:
    for row in (s.get("Clients?$select=name")["value"][0], s.get(s.client() + "?$select=name")):
        assert {name for name in row if "@" not in name} == {"name"}


@requirement("INT-02", "MUST", "$select=* shows all; the context lists what was selected.")
def _(s: Service) -> None:
    assert "email" in s.get("Clients?$select=*")["value"][0]
    context = s.get("Clients?$select=name,status")["@odata.context"]
    assert context.endswith("#Clients(name,status)")


@requirement("INT-03", "MUST", "$select goes into complex properties.")
def _(s: Service) -> None:
    for text in ("billingAddress($select=city)", "billingAddress/city"):
        assert s.get(f"{s.client()}?$select={text}")["billingAddress"] == {"city": "Bonn"}


@requirement("INT-04", "MUST", "$top limits; 0 gives nothing, no number is refused.")
def _(s: Service) -> None:
    assert len(s.names("$top=2")) == 2 and s.names("$top=0") == []
    for text in ("-1", "x", "1.5"):
        s.refused(f"Clients?$top={text}")


@requirement("INT-05", "MUST", "$skip comes before $top; beyond the end there is nothing.")
def _(s: Service) -> None:
    assert s.names("$orderby=id&$skip=1&$top=1") == ["Delta_x"] and s.names("$skip=99") == []
    s.refused("Clients?$skip=-1")


@requirement("INT-06", "SHOULD", "Windows without an order show every row once.")
def _(s: Service) -> None:
    names = [name for start in range(4) for name in s.names(f"$skip={start}&$top=1")]
    assert sorted(names) == sorted(s.names(""))


@requirement("INT-07", "SHOULD", "$count=true counts all; false does not; no word else.")
def _(s: Service) -> None:
    found = s.get("Clients?$count=true&$top=1&$skip=1&$filter=revenue gt 50")
    assert found["@odata.count"] == 3
    assert "@odata.count" not in s.get("Clients?$count=false")
    s.refused("Clients?$count=yes")


@requirement("INT-08", "SHOULD", "/$count is a number as text, with $filter and without $top.")
def _(s: Service) -> None:
    reply = s.fetch("Clients/$count?$filter=revenue gt 50&$top=1")
    assert reply.text == "3" and reply.headers["content-type"].startswith("text/plain")


@requirement("INT-09", "SHOULD", "$orderby takes several keys, each its way, as written.")
def _(s: Service) -> None:
    found = s.names("$orderby=status,revenue desc")
    assert found == ["Delta_x", "Acme", "O'Neil 50%", "Zürich 日本"]


@requirement("INT-10", "SHOULD", "Null comes first ascending and last descending.")
def _(s: Service) -> None:
    assert s.names("$orderby=employeeCount")[0] == "Delta_x"
    assert s.names("$orderby=employeeCount desc")[-1] == "Delta_x"


@requirement("INT-11", "SHOULD", "$orderby takes expressions and navigation to one entity.")
def _(s: Service) -> None:
    assert s.names("$orderby=length(name)")[0] == "Acme"
    assert s.names("$orderby=Client/name desc,id", "Contacts")[0] == "Dora"


@requirement("INT-45", "MUST", "All options go together.")
def _(s: Service) -> None:
    found = s.get(
        "Clients?$filter=revenue gt 5&$orderby=revenue desc&$skip=2&$top=1&$count=true"
        "&$select=name&$expand=Contacts($select=lastName;$orderby=lastName desc;$top=1)"
    )
    (row,) = found["value"]
    assert found["@odata.count"] == 4 and row["name"] == "Acme"
    assert [one["lastName"] for one in row["Contacts"]] == ["Cleo"]


@requirement("INT-46", "MUST", "A property by itself has context and value; null is 204.")
def _(s: Service) -> None:
    found = s.get(s.client() + "/name")
    assert found["value"] == "Acme" and found["@odata.context"].endswith(f"#{s.client()}/name")
    assert s.fetch(s.client("Delta_x") + "/email").status == 204


@requirement("INT-47", "MUST", "/$value is plain text; of null 204; of nothing 404.")
def _(s: Service) -> None:
    reply = s.fetch(s.client() + "/name/$value")
    assert reply.text == "Acme" and reply.headers["content-type"].startswith("text/plain")
    assert s.fetch(s.client("Delta_x") + "/email/$value").status == 204
    assert s.fetch("Clients(999999)/name/$value").status == 404


@requirement("INT-48", "MUST", "The bytes of a media entity are read by /$value.")
def _(s: Service) -> None:
    headers = {"Content-Type": "text/plain", "Slug": "note.txt"}
    made = s.send("POST", "Documents", b"some bytes", headers)
    assert made.status == 201, made.text
    assert s.fetch(f"Documents({made.json['id']})/$value").body == b"some bytes"


@requirement("INT-49", "SHOULD", "One entity takes $select and $expand, no options of collections.")
def _(s: Service) -> None:
    row = s.get(s.client() + "?$select=name&$expand=Contacts")
    assert row["name"] == "Acme" and len(row["Contacts"]) == 3
    for option in ("$orderby=name", "$top=1", "$skip=1"):
        s.refused(f"{s.client()}?{option}")


@requirement("INT-50", "SHOULD", "HEAD has the headers of GET and no body.")
def _(s: Service) -> None:
    for path in ("Clients", s.client()):
        head, get = s.send("HEAD", path), s.fetch(path)
        assert (head.status, head.body) == (200, b"")
        assert head.headers["content-type"] == get.headers["content-type"]

"""Beyond the levels: aggregation, other addresses, and what clients rely on."""

from __future__ import annotations

from tests.conformance.batches import multipart, request
from tests.conformance.registry import requirement
from tests.conformance.service import Service

FOUR = "filter(revenue gt 0)"


def applied(s: Service, text: str, more: str = "") -> list[dict]:  # type: ignore[type-arg]
    found: list[dict] = s.get(f"Clients?$apply={FOUR}/{text}{more}")["value"]  # type: ignore[type-arg]
    return found


@requirement("EXT-01", "MAY", "aggregate: sum, average, min, max.")
def _(s: Service) -> None:
    (row,) = applied(
        s,
        "aggregate(revenue with sum as s,revenue with average as a,"
        "revenue with min as l,revenue with max as h)",
    )
    assert (row["s"], row["a"], row["l"], row["h"]) == (6808, 1702, 7.5, 6000.5)


@requirement("EXT-02", "MAY", "aggregate: $count and countdistinct.")
def _(s: Service) -> None:
    (row,) = applied(s, "aggregate($count as n,status with countdistinct as k)")
    assert (row["n"], row["k"]) == (4, 3)


@requirement("EXT-03", "MAY", "groupby gives the distinct values.")
def _(s: Service) -> None:
    rows = applied(s, "groupby((status))")
    assert sorted(row["status"] for row in rows) == ["Active", "Inactive", "Prospect"]


@requirement("EXT-04", "MAY", "groupby with aggregate, sorted and filtered by what it made.")
def _(s: Service) -> None:
    text = "groupby((status),aggregate(revenue with sum as total,$count as n))"
    rows = applied(s, text, "&$orderby=total desc&$filter=total gt 100")
    assert [(row["status"], row["n"]) for row in rows] == [("Active", 2), ("Inactive", 1)]


@requirement("EXT-05", "MAY", "groupby along a navigation to one entity.")
def _(s: Service) -> None:
    text = "filter(lastName eq 'Ana')/groupby((Client/name),aggregate($count as n))"
    (row,) = s.get(f"Contacts?$apply={text}")["value"]
    assert row["Client"]["name"] == "Acme" and row["n"] == 1


@requirement("EXT-06", "MAY", "compute, identity, orderby, top, skip, topcount, concat.")
def _(s: Service) -> None:
    (row,) = applied(s, "compute(revenue mul 2 as d)/filter(d gt 1000)/aggregate(d with sum as t)")
    assert row["t"] == 13401
    assert len(applied(s, "identity/orderby(revenue)/skip(1)/top(2)")) == 2
    assert applied(s, "topcount(1,revenue)")[0]["name"] == "Delta_x"
    assert len(applied(s, "concat(topcount(1,revenue),aggregate($count as n))")) == 2


@requirement("EXT-07", "SHOULD", "A malformed $apply is 400.")
def _(s: Service) -> None:
    for text in (
        "aggregate(revenue)",
        "groupby(status)",
        "magic()",
        "aggregate(nothing with sum as x)",
    ):
        s.refused(f"Clients?$apply={text}")


@requirement("EXT-08", "MAY", "Keys are segments, too.")
def _(s: Service) -> None:
    key = s.ids["Acme"]
    assert s.get(f"Clients/{key}")["name"] == "Acme"
    assert "Ana" in s.names("", f"Clients/{key}/Contacts")


@requirement("EXT-09", "MAY", "Every alternate key that is declared finds its entity.")
def _(s: Service) -> None:
    made = s.make("Clients", {"name": "Known", "externalId": "x-1"})
    assert s.get("Clients(externalId='x-1')")["id"] == made["id"]
    assert s.get(f"Clients(number='{made['number']}')")["id"] == made["id"]


@requirement("EXT-10", "MAY", "$select and $expand shape the answers to writes.")
def _(s: Service) -> None:
    made = s.make("Clients?$select=name&$expand=Contacts", {"name": "Shaped"})
    assert {name for name in made if "@" not in name} == {"name", "Contacts"}


@requirement("EXT-11", "MAY", "All members that a filter finds are changed, or removed.")
def _(s: Service) -> None:
    for _place in range(2):
        s.make("Projects", {"name": "Each"})
    path = "Projects/$filter(name eq 'Each')/$each"
    assert s.send("PATCH", path, {"description": "x"}).status in (200, 204)
    assert s.send("DELETE", path).status == 204
    assert s.get("Projects?$filter=name eq 'Each'")["value"] == []


@requirement("EXT-12", "MAY", "PATCH of a set with a delta makes, changes and removes members.")
def _(s: Service) -> None:
    kept = s.make("Projects", {"name": "Kept"})["id"]
    gone = s.make("Projects", {"name": "Gone"})["id"]
    body = {"@context": "#$delta", "value": [
        {"@id": f"Projects({kept})", "description": "changed"}, {"name": "Delta"},
        {"@removed": {"reason": "deleted"}, "@id": f"Projects({gone})"},
    ]}  # fmt: skip
    reply = s.send("PATCH", "Projects", body, {"OData-Version": "4.01"})
    assert reply.status in (200, 204), reply.text
    assert s.get(f"Projects({kept})")["description"] == "changed"
    assert s.get("Projects?$filter=name eq 'Delta'")["value"]
    assert s.fetch(f"Projects({gone})").status == 404


@requirement("EXT-13", "MAY", "omit-values=nulls leaves nulls out, and says so.")
def _(s: Service) -> None:
    reply = s.fetch(s.client("Delta_x"), Prefer="omit-values=nulls")
    assert "email" not in reply.json
    assert "omit-values=nulls" in reply.headers["preference-applied"]


@requirement("EXT-14", "SHOULD", "Preferences that were applied are told.")
def _(s: Service) -> None:
    reply = s.fetch("Clients", Prefer="maxpagesize=2")
    assert "maxpagesize=2" in reply.headers["preference-applied"]
    wanted = 'include-annotations="Measures.*"'
    reply = s.fetch(f"{s.client()}?$select=revenue", Prefer=wanted)
    assert reply.json["revenue@Measures.ISOCurrency"]
    assert "include-annotations" in reply.headers["preference-applied"]


@requirement("EXT-15", "MAY", "IEEE754Compatible: wide numbers and counts are texts.")
def _(s: Service) -> None:
    found = s.get("Clients?$count=true", Accept="application/json;IEEE754Compatible=true")
    assert isinstance(found["@odata.count"], str)
    assert isinstance(found["value"][0]["id"], str) and isinstance(
        found["value"][0]["revenue"], str
    )


@requirement("EXT-16", "MAY", "Names of properties are known in any case, shown as declared.")
def _(s: Service) -> None:
    row = s.get("Clients?$filter=NAME eq 'Acme'&$select=Name")["value"][0]
    assert row["name"] == "Acme"


@requirement("EXT-17", "MAY", "4.01 answers use the short names of control information.")
def _(s: Service) -> None:
    found = s.get("Clients?$count=true", OData_MaxVersion="4.01")
    assert "@context" in found and "@count" in found and "@odata.context" not in found


@requirement("EXT-18", "MAY", "A JSON array is a list for in; /$filter stands in expressions.")
def _(s: Service) -> None:
    assert "Acme" in s.found('status in ["Active"]')
    assert s.found("Contacts/$filter(lastName eq 'Ana')/$count eq 1") == ["Acme"]


@requirement("EXT-19", "MAY", "$compute in $expand, and $expand of a number alone.")
def _(s: Service) -> None:
    text = "Contacts($compute=length(lastName) as n;$select=n;$orderby=id;$top=1)"
    assert s.get(f"{s.client()}?$expand={text}")["Contacts"][0]["n"] == 3
    row = s.get(s.client() + "?$expand=Contacts/$count")
    assert row["Contacts@odata.count"] >= 3 and "Contacts" not in row


@requirement("EXT-20", "CLIENT", "/$count and DELETE answer who asks for JSON.")
def _(s: Service) -> None:
    reply = s.fetch("Clients/$count", Accept="application/json")
    assert reply.status == 200 and reply.text.isdigit()
    path = f"Clients({s.make('Clients', {'name': 'M'})['id']})"
    assert s.send("DELETE", path, headers={"Accept": "application/json"}).status == 204


@requirement("EXT-21", "CLIENT", "Changes need no If-Match.")
def _(s: Service) -> None:
    path = f"Clients({s.make('Clients', {'name': 'M'})['id']})"
    assert s.send("PATCH", path, {"notes": "x"}).status in (200, 204)
    assert s.send("DELETE", path).status == 204


@requirement("EXT-22", "CLIENT", "$metadata is of version 4.0 for who says no version.")
def _(s: Service) -> None:
    reply = s.fetch("$metadata")
    assert reply.headers["odata-version"] == "4.0" and 'Version="4.0"' in reply.text


@requirement("EXT-23", "CLIENT", "Queries come encoded as forms, too.")
def _(s: Service) -> None:
    assert s.names("%24filter=name+eq+%27Acme%27") == ["Acme"]
    assert s.names("%24filter=concat(name,%27%2B%27)+eq+%27Acme%2B%27") == ["Acme"]


@requirement(
    "EXT-24", "CLIENT", "multipart: Content-Type is spelled so; blank lines are read over."
)
def _(s: Service) -> None:
    reply = multipart(s, "\r\n" + request("GET", s.client()))
    assert "Content-Type: application/http" in reply.text and "Acme" in reply.text

"""Advanced level: metadata as JSON, lambdas, expansion, search, computed values, addresses."""

from __future__ import annotations

from tests.conformance.minimal_reading import EDM, metadata
from tests.conformance.registry import requirement
from tests.conformance.service import Service


def contacts(row: dict) -> list[str]:  # type: ignore[type-arg]
    return [one["lastName"] for one in row["Contacts"]]


@requirement("ADV-01", "MUST", "$metadata is XML of the OASIS namespaces.")
def _(s: Service) -> None:
    root = metadata(s)
    edmx = "{http://docs.oasis-open.org/odata/ns/edmx}"
    assert root.tag == f"{edmx}Edmx" and root.find(f"{edmx}DataServices/{EDM}Schema") is not None


@requirement("ADV-02", "MUST", "$metadata is JSON where that is asked for.")
def _(s: Service) -> None:
    for document in (
        s.get("$metadata?$format=json"),
        s.get("$metadata", Accept="application/json"),
    ):
        assert document["$Version"] and document["$EntityContainer"]
        assert document["BusinessPlatform"]["Client"]["$Kind"] == "EntityType"


@requirement("ADV-03", "MUST", "Both forms of $metadata declare the same.")
def _(s: Service) -> None:
    schema = s.get("$metadata?$format=json")["BusinessPlatform"]
    for type_ in metadata(s).iter(f"{EDM}EntityType"):
        element = schema[type_.get("Name")]
        for kind in ("Property", "NavigationProperty"):
            for one in type_.findall(f"{EDM}{kind}"):
                assert one.get("Name") in element
        keys = [ref.get("Name") for ref in type_.iter(f"{EDM}PropertyRef")]
        assert element["$Key"] == keys


@requirement("ADV-04", "MUST", "/$count on a navigation, with a filter and without.")
def _(s: Service) -> None:
    path = s.client() + "/Contacts/$count"
    assert s.fetch(path).text == "3"
    assert s.fetch(path + "?$filter=lastName eq 'Bo'").text == "1"


@requirement("ADV-05", "MUST", "any with a condition, without one, and negated.")
def _(s: Service) -> None:
    assert s.found("Contacts/any(d:d/lastName eq 'Ana')") == ["Acme"]
    assert s.found("Contacts/any() and revenue gt 0") == ["Acme", "Delta_x"]
    assert "Acme" not in s.found("not Contacts/any(d:d/lastName eq 'Ana')")


@requirement("ADV-06", "MUST", "all is true where there is nothing.")
def _(s: Service) -> None:
    found = s.found("Contacts/all(d:d/lastName ne 'Ana')")
    assert "Acme" not in found and "Zürich 日本" in found


@requirement("ADV-07", "MUST", "Conditions of lambdas see everything around them.")
def _(s: Service) -> None:
    for text in (
        "Contacts/any(x:contains(x/lastName,'leo') and revenue gt 5)",
        "Contacts/any(longName:longName/clientId eq $it/id) and name eq 'Acme'",
        "Contacts/any(a:a/Client/Contacts/any(b:b/lastName eq 'Ana'))",
    ):
        assert s.found(text) == ["Acme"], text


@requirement("ADV-08", "MUST", "Lambdas nest over two navigations.")
def _(s: Service) -> None:
    assert s.found("Invoices/any(i:i/LineItems/any(l:l/quantity gt 4))") == ["Acme"]


@requirement("ADV-09", "MUST", "$count is a number in expressions, filtered and sorted by.")
def _(s: Service) -> None:
    assert s.found("Contacts/$count gt 2") == ["Acme"]
    assert s.found("Contacts/$count($filter=lastName eq 'Ana') eq 1") == ["Acme"]
    assert s.names("$orderby=Contacts/$count desc&$top=1") == ["Acme"]


@requirement("ADV-10", "MUST", "$expand of collections and single entities, selected or not.")
def _(s: Service) -> None:
    row = s.get(s.client() + "?$expand=Contacts,Invoices&$select=name")
    assert sorted(contacts(row)) == ["Ana", "Bo", "Cleo"] and len(row["Invoices"]) == 1
    found = s.get("Contacts?$expand=Client&$filter=lastName eq 'Ana'")["value"][0]
    assert found["Client"]["name"] == "Acme"


@requirement("ADV-11", "MUST", "$expand of what is no navigation is 400, and so are its options.")
def _(s: Service) -> None:
    for text in ("nothing", "name", "Contacts($nothing=1)", "Contacts($filter=)", "Contacts("):
        s.refused(f"Clients?$expand={text}")


@requirement("ADV-12", "MUST", "$filter in $expand filters what is related, not the rows.")
def _(s: Service) -> None:
    rows = s.get("Clients?$orderby=id&$expand=Contacts($filter=lastName eq 'Bo')")["value"]
    assert contacts(rows[0]) == ["Bo"] and contacts(rows[1]) == []


@requirement("ADV-13", "SHOULD", "Order, limit and offset in $expand hold for each row.")
def _(s: Service) -> None:
    row = s.get(s.client() + "?$expand=Contacts($orderby=lastName desc;$top=1;$skip=1)")
    assert contacts(row) == ["Bo"]


@requirement("ADV-14", "SHOULD", "$count in $expand counts all that are related.")
def _(s: Service) -> None:
    row = s.get(s.client() + "?$expand=Contacts($count=true;$top=1)")
    assert row["Contacts@odata.count"] == 3 and len(row["Contacts"]) == 1


@requirement("ADV-15", "MUST", "$select in $expand, and $expand three levels deep.")
def _(s: Service) -> None:
    row = s.get(s.client() + "?$expand=Contacts($select=lastName)")
    assert {name for name in row["Contacts"][0] if "@" not in name} == {"lastName"}
    deep = "Contacts($expand=Client($expand=Contacts($expand=Client)))"
    row = s.get(f"{s.client()}?$expand={deep}")
    assert row["Contacts"][0]["Client"]["Contacts"][0]["Client"]["name"] == "Acme"


@requirement("ADV-16", "MUST", "$expand of references shows ids alone.")
def _(s: Service) -> None:
    row = s.get(s.client() + "?$expand=Contacts/$ref")
    assert all(set(one) == {"@odata.id"} for one in row["Contacts"]) and len(row["Contacts"]) == 3


@requirement("ADV-17", "SHOULD", "$expand=* shows every navigation.")
def _(s: Service) -> None:
    assert {"Contacts", "Invoices", "Owner"} <= s.get(s.client() + "?$expand=*").keys()


@requirement(
    "ADV-18", "SHOULD", "$levels goes down a recursive navigation, by number and to the end."
)
def _(s: Service) -> None:
    for levels in ("2", "max"):
        row = s.get(f"Tasks({s.ids['Top']})?$expand=Subtasks($levels={levels})")
        assert row["Subtasks"][0]["Subtasks"][0]["title"] == "Low"


@requirement("ADV-19", "SHOULD", "$search in $expand.")
def _(s: Service) -> None:
    assert contacts(s.get(s.client() + "?$expand=Contacts($search=Cleo)")) == ["Cleo"]


@requirement("ADV-20", "MUST", "$search finds words and phrases.")
def _(s: Service) -> None:
    assert s.names("$search=acme") == ["Acme"]
    assert s.names('$search="Neil 50"') == ["O'Neil 50%"]
    assert s.names("$search=xyzzy") == []


@requirement("ADV-21", "MUST", "$search: NOT before AND, said or not, before OR; parentheses.")
def _(s: Service) -> None:
    assert s.names("$search=neil AND 50") == s.names("$search=neil 50") == ["O'Neil 50%"]
    assert sorted(s.names("$search=acme OR delta_x")) == ["Acme", "Delta_x"]
    assert "Acme" not in s.names("$search=NOT acme")
    assert s.names("$search=(acme OR delta_x) AND NOT acme") == ["Delta_x"]


@requirement("ADV-22", "MUST", "A malformed $search is 400.")
def _(s: Service) -> None:
    for text in ('"acme', "(acme", ""):
        s.refused(f"Clients?$search={text}")


@requirement("ADV-23", "MUST", "$compute makes values to show, to filter and to sort by.")
def _(s: Service) -> None:
    found = s.get(
        "Clients?$compute=revenue mul 2 as double&$select=name,double"
        "&$filter=double gt 150&$orderby=double desc"
    )
    assert [(row["name"], row["double"]) for row in found["value"]][-1] == ("Acme", 200)


@requirement("ADV-24", "MUST", "A malformed $compute is 400.")
def _(s: Service) -> None:
    for text in ("revenue mul 2", "revenue mul 2 as name", "as x"):
        s.refused(f"Clients?$compute={text}")


@requirement("ADV-35", "MUST", "Paths follow navigation any number of steps.")
def _(s: Service) -> None:
    assert len(s.get(s.client() + "/Contacts")["value"]) >= 3
    assert s.get(f"{s.client()}/Contacts({s.ids['Ana']})")["lastName"] == "Ana"
    assert s.get(f"{s.client()}/Contacts({s.ids['Ana']})/lastName")["value"] == "Ana"
    assert s.get(s.contact() + "/Client")["name"] == "Acme"
    assert s.get(s.contact() + "/Client/name")["value"] == "Acme"
    assert "Ana" in s.names("", s.contact() + "/Client/Contacts")


@requirement("ADV-36", "MUST", "Options of queries go with paths along navigation.")
def _(s: Service) -> None:
    found = s.get(
        s.client() + "/Contacts?$filter=lastName gt 'A'&$orderby=lastName desc&$top=1"
        "&$count=true&$select=lastName&$expand=Client"
    )
    assert found["value"][0]["Client"]["name"] == "Acme" and found["@odata.count"] >= 3


@requirement("ADV-37", "MUST", "References are read: of sets, collections and single entities.")
def _(s: Service) -> None:
    for path in ("Clients/$ref", s.client() + "/Contacts/$ref"):
        assert all(set(one) == {"@odata.id"} for one in s.get(path)["value"])
    assert s.get(s.contact() + "/Client/$ref")["@odata.id"].endswith(s.client())


@requirement("ADV-38", "MUST", "$entity finds an entity by its id, relative and absolute.")
def _(s: Service) -> None:
    for prefix in ("", s.root):
        assert s.get(f"$entity?$id={prefix}{s.client()}")["name"] == "Acme"


@requirement("ADV-39", "MUST", "A type in a path: the entities that are of it.")
def _(s: Service) -> None:
    assert s.get("Clients/BusinessPlatform.Client")["value"]
    assert s.get(s.client() + "/BusinessPlatform.Client")["name"] == "Acme"
    s.refused("Clients/BusinessPlatform.Nothing", 400, 404)


@requirement("ADV-40", "SHOULD", "/$filter(...) in a path, with /$count too.")
def _(s: Service) -> None:
    assert "Delta_x" in s.names("", "Clients/$filter(revenue gt 500)")
    assert int(s.fetch("Clients/$filter(revenue gt 5000)/$count").text) == 1


@requirement("ADV-41", "SHOULD", "$crossjoin combines two sets.")
def _(s: Service) -> None:
    found = s.get(
        "$crossjoin(Clients,Contacts)?$filter=Clients/id eq Contacts/clientId"
        " and Contacts/lastName eq 'Ana'&$expand=Clients($select=name),Contacts"
    )
    (row,) = found["value"]
    assert row["Clients"]["name"] == "Acme" and row["Contacts"]["lastName"] == "Ana"


@requirement("ADV-42", "MAY", "$all is the entities of all sets, each with its type.")
def _(s: Service) -> None:
    found = s.get("$all?$count=true&$top=6")
    assert len(found["value"]) == 6 < found["@odata.count"]
    assert all(row["@odata.type"] and row["@odata.id"] for row in found["value"])


@requirement("ADV-43", "MUST", "POST to /$query is the GET with its options in the body.")
def _(s: Service) -> None:
    body = "$filter=name eq 'Acme'&$select=name"
    reply = s.send("POST", "Clients/$query", body, {"Content-Type": "text/plain"})
    assert reply.json == s.get(f"Clients?{body}")


@requirement("ADV-44", "SHOULD", "A delta link tells what was made, changed and removed since.")
def _(s: Service) -> None:
    gone = s.make("Projects", {"name": "Gone"})["id"]
    reply = s.fetch("Projects?$select=name", Prefer="odata.track-changes")
    assert "track-changes" in reply.headers["preference-applied"]
    link = reply.json["@odata.deltaLink"].removeprefix(s.root)
    made = s.make("Projects", {"name": "New"})["id"]
    assert s.send("DELETE", f"Projects({gone})").status == 204
    changes = s.get(link)["value"]
    assert any(one.get("name") == "New" for one in changes), made
    assert any("@odata.removed" in one or "$deletedEntity" in str(one) for one in changes)


@requirement("ADV-45", "SHOULD", "respond-async: 202, and the answer at the address given.")
def _(s: Service) -> None:
    reply = s.fetch("Clients", Prefer="respond-async")
    assert reply.status == 202 and reply.headers["location"]


@requirement("ADV-46", "MUST", "respond-async does no harm.")
def _(s: Service) -> None:
    assert s.fetch("Clients", Prefer="respond-async").status in (200, 202)

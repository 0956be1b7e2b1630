"""Minimal level: documents, formats, errors, paging, what names may look like."""

from __future__ import annotations

from xml.etree import ElementTree

from tests.conformance.registry import requirement
from tests.conformance.service import Service

EDM = "{http://docs.oasis-open.org/odata/ns/edm}"
SETS = {
    "Clients", "Contacts", "Leads", "Opportunities", "Tickets", "Invoices", "KbArticles",
    "Documents", "Tasks", "Projects",
}  # fmt: skip


def metadata(s: Service) -> ElementTree.Element:
    return ElementTree.fromstring(s.fetch("$metadata").text)


@requirement("MIN-01", "MUST", "The root lists what the service has, with a context URL.")
def _(s: Service) -> None:
    found = s.get("")
    assert found["@odata.context"].endswith("$metadata")
    assert all(one["name"] and one["url"] for one in found["value"])


@requirement("MIN-02", "SPEC", "The ten entity sets are listed, and each address gives rows.")
def _(s: Service) -> None:
    urls = {one["name"]: one["url"] for one in s.get("")["value"]}
    assert urls.keys() >= SETS
    for name in SETS:
        assert isinstance(s.get(urls[name])["value"], list)


@requirement("MIN-03", "MUST", "A collection is an object with context and value.")
def _(s: Service) -> None:
    found = s.get("Clients")
    assert found["@odata.context"].endswith("$metadata#Clients") and len(found["value"]) == 4


@requirement("MIN-04", "MUST", "One entity is an object whose context ends in /$entity.")
def _(s: Service) -> None:
    assert s.get(s.client())["@odata.context"].endswith("$metadata#Clients/$entity")


@requirement("MIN-05", "MUST", "Every answer says its OData-Version, errors too.")
def _(s: Service) -> None:
    for path in ("", "Clients", s.client(), "Nothing", "Clients?$filter=("):
        assert s.fetch(path).headers["odata-version"] in ("4.0", "4.01"), path


@requirement("MIN-06", "MUST", "OData-MaxVersion 4.0 gives version 4.0 and odata. names.")
def _(s: Service) -> None:
    reply = s.fetch(s.client(), OData_MaxVersion="4.0")
    assert reply.headers["odata-version"] == "4.0" and "@odata.context" in reply.json
    assert 'Version="4.0"' in s.fetch("$metadata", OData_MaxVersion="4.0").text


@requirement("MIN-07", "MUST", "OData-MaxVersion 4.01 gives version 4.01.")
def _(s: Service) -> None:
    assert s.fetch("Clients", OData_MaxVersion="4.01").headers["odata-version"] == "4.01"


@requirement("MIN-08", "MUST", "Versions that there are not, or too low ones, are refused.")
def _(s: Service) -> None:
    for headers in ({"OData_MaxVersion": "3.0"}, {"OData_Version": "9.9"}):
        assert 400 <= s.fetch("Clients", **headers).status < 500


@requirement("MIN-09", "MUST", "An unknown format, or format parameter, is refused.")
def _(s: Service) -> None:
    for accept in ("application/atom+xml", "application/json;odata.metadata=much"):
        assert s.fetch("Clients", Accept=accept).status in (400, 406, 415)


@requirement("MIN-10", "MUST", "metadata=minimal, none and full are taken in both spellings.")
def _(s: Service) -> None:
    for prefix in ("odata.", ""):
        for level in ("minimal", "none", "full"):
            accept = f"application/json;{prefix}metadata={level}"
            assert s.fetch("Clients", Accept=accept).status == 200, accept


@requirement("MIN-11", "SHOULD", "full shows types, ids and links; none shows no context.")
def _(s: Service) -> None:
    full = s.get("Clients", Accept="application/json;odata.metadata=full")["value"][0]
    assert full["@odata.type"] and full["@odata.id"] and full["Contacts@odata.navigationLink"]
    assert "@odata.context" not in s.get("Clients", Accept="application/json;odata.metadata=none")


@requirement("MIN-12", "SHOULD", "$format wins over Accept; an unknown one is refused.")
def _(s: Service) -> None:
    for text in ("json", "application/json;odata.metadata=minimal"):
        assert s.fetch(f"Clients?$format={text}", Accept="text/plain").status == 200
    assert 400 <= s.fetch("Clients?$format=atom").status < 500


@requirement("MIN-13", "MUST", "Unknown options with a dollar sign are refused.")
def _(s: Service) -> None:
    s.refused("Clients?$filtre=name eq 'x'", 400, 501)
    s.refused("Clients?$deltatoken=x", 400, 410, 501)


@requirement("MIN-14", "SHOULD", "Options of other kinds do no harm.")
def _(s: Service) -> None:
    assert len(s.get("Clients?debug=1&sap-client=100")["value"]) == 4


@requirement("MIN-15", "MUST", "A malformed $filter is 400 with code and message.")
def _(s: Service) -> None:
    for text in ("name eq", "name eq 'x", "(name eq 'x'", "eq"):
        s.refused(f"Clients?$filter={text}")


@requirement("MIN-16", "MUST", "Unknown properties in $filter, $orderby and $select are 400.")
def _(s: Service) -> None:
    for option in ("$filter=nothing eq 1", "$orderby=nothing", "$select=nothing"):
        s.refused(f"Clients?{option}")


@requirement("MIN-17", "MUST", "404 for a missing key, an unknown set, an unknown property.")
def _(s: Service) -> None:
    for path in ("Clients(999999)", "Nothing", s.client() + "/nothing"):
        s.refused(path, 404)


@requirement("MIN-18", "MUST", "Keys in both forms; one of another type or name is no 5xx.")
def _(s: Service) -> None:
    key = s.ids["Acme"]
    assert s.get(f"Clients({key})")["id"] == s.get(f"Clients(id={key})")["id"] == key
    for path in ("Clients('x')", "Clients(nothing=1)", "Clients(99999999999999999999)"):
        s.refused(path, 400, 404)


@requirement("MIN-19", "MUST", "405 for what an address does not take.")
def _(s: Service) -> None:
    for method, path in (("POST", s.client()), ("DELETE", ""), ("PUT", "Clients")):
        assert s.send(method, path, {}).status == 405, (method, path)


@requirement("MIN-20", "MUST", "Unknown preferences are ignored.")
def _(s: Service) -> None:
    assert s.fetch("Clients", Prefer="magic=1, whatever").status == 200


@requirement("MIN-21", "MUST", "Isolation that is not offered is 412.")
def _(s: Service) -> None:
    for name in ("Isolation", "OData_Isolation"):
        assert s.fetch("Clients", **{name: "snapshot"}).status == 412


@requirement("MIN-22", "SHOULD", "odata.maxpagesize bounds the pages.")
def _(s: Service) -> None:
    page = s.get("Clients", Prefer="odata.maxpagesize=3")
    assert len(page["value"]) == 3 and page["@odata.nextLink"]


@requirement("MIN-23", "MUST", "maxpagesize without the prefix is the same.")
def _(s: Service) -> None:
    page = s.get("Clients", Prefer="maxpagesize=3")
    assert len(page["value"]) == 3 and page["@odata.nextLink"]


@requirement("MIN-24", "MUST", "Pages show every row once, in order, with the options kept.")
def _(s: Service) -> None:
    query = "$filter=revenue gt 5&$orderby=revenue desc&$select=name"
    names, path = [], f"Clients?{query}"
    while path:
        page = s.get(path, Prefer="maxpagesize=1")
        names += [row["name"] for row in page["value"]]
        assert all(set(row) <= {"name", "@odata.id", "@odata.etag"} for row in page["value"])
        path = page.get("@odata.nextLink", "").removeprefix(s.root)
    assert names == ["Delta_x", "O'Neil 50%", "Acme", "Zürich 日本"]


@requirement("MIN-25", "MUST", "$count counts all rows; $top within a page has no next link.")
def _(s: Service) -> None:
    page = s.get("Clients?$count=true", Prefer="maxpagesize=2")
    assert page["@odata.count"] == 4 and len(page["value"]) == 2
    assert "@odata.nextLink" not in s.get("Clients?$top=2&$count=true")


@requirement("MIN-26", "SHOULD", "$metadata is CSDL XML with one container.")
def _(s: Service) -> None:
    reply = s.fetch("$metadata")
    assert reply.headers["content-type"].startswith("application/xml")
    root = metadata(s)
    assert root.get("Version") in ("4.0", "4.01")
    assert len(root.findall(f".//{EDM}EntityContainer")) == 1


@requirement("MIN-27", "SPEC", "$metadata declares the ten sets.")
def _(s: Service) -> None:
    assert {one.get("Name") for one in metadata(s).iter(f"{EDM}EntitySet")} >= SETS


@requirement("MIN-28", "MUST", "Types have keys that are not null, of types that are declared.")
def _(s: Service) -> None:
    for type_ in metadata(s).iter(f"{EDM}EntityType"):
        for ref in type_.iter(f"{EDM}PropertyRef"):
            key = type_.find(f"{EDM}Property[@Name='{ref.get('Name')}']")
            assert key is not None and key.get("Nullable") == "false"
            assert str(key.get("Type")).startswith("Edm.")


@requirement("MIN-29", "SPEC", "Client declares the seven properties of the specification.")
def _(s: Service) -> None:
    client = metadata(s).find(f".//{EDM}EntityType[@Name='Client']")
    assert client is not None
    types = {one.get("Name"): one.get("Type") for one in client.findall(f"{EDM}Property")}
    assert types["id"] == "Edm.Int64" and types["revenue"] == "Edm.Decimal"
    assert types["createdAt"] == "Edm.DateTimeOffset"
    assert {"name", "email", "taxId", "status"} <= types.keys()


@requirement("MIN-30", "SPEC", "Contacts, Invoices and LineItems are collections, bound to sets.")
def _(s: Service) -> None:
    root = metadata(s)
    for owner, name in (("Client", "Contacts"), ("Client", "Invoices"), ("Invoice", "LineItems")):
        path = f".//{EDM}EntityType[@Name='{owner}']/{EDM}NavigationProperty[@Name='{name}']"
        nav = root.find(path)
        assert nav is not None and str(nav.get("Type")).startswith("Collection(")
    sets = {one.get("Name") for one in root.iter(f"{EDM}EntitySet")}
    assert {one.get("Target") for one in root.iter(f"{EDM}NavigationPropertyBinding")} <= sets


@requirement("MIN-31", "SHOULD", "No two names of a type differ only by case.")
def _(s: Service) -> None:
    for type_ in metadata(s).iter(f"{EDM}EntityType"):
        names = [str(one.get("Name")).lower() for one in type_ if one.get("Name")]
        assert len(names) == len(set(names))


@requirement("MIN-32", "SHOULD", "Core.ODataVersions names 4.01.")
def _(s: Service) -> None:
    found = metadata(s).find(f".//{EDM}Annotation[@Term='Org.OData.Core.V1.ODataVersions']")
    assert found is not None and "4.01" in str(found.get("String"))


@requirement("MIN-33", "SHOULD", "Capabilities are told by annotations.")
def _(s: Service) -> None:
    terms = {one.get("Term") for one in metadata(s).iter(f"{EDM}Annotation")}
    assert sum(str(term).startswith("Org.OData.Capabilities.V1.") for term in terms) > 10


@requirement("MIN-34", "MUST", "Entities have the declared properties, their JSON of the types.")
def _(s: Service) -> None:
    client = metadata(s).find(f".//{EDM}EntityType[@Name='Client']")
    assert client is not None
    types = {one.get("Name"): str(one.get("Type")) for one in client.findall(f"{EDM}Property")}
    row = s.get(s.client())
    for name, value in row.items():
        if name.startswith("@"):
            continue
        if types[name] == "Edm.String":
            assert value is None or isinstance(value, str), name
        if types[name] in ("Edm.Int64", "Edm.Decimal"):
            assert value is None or isinstance(value, int | float), name


@requirement("MIN-35", "MUST", "System options work without the dollar sign.")
def _(s: Service) -> None:
    found = s.get("Clients?filter=revenue gt 50&orderby=name desc&top=1&select=name&count=true")
    assert [row["name"] for row in found["value"]] == ["O'Neil 50%"] and found["@odata.count"] == 3


@requirement("MIN-36", "MUST", "Names of system options are known in any case.")
def _(s: Service) -> None:
    assert s.names("$FILTER=revenue gt 50&$OrderBy=name&$Top=1") == ["Acme"]


@requirement("MIN-37", "MUST", "Operators and functions are known in any case.")
def _(s: Service) -> None:
    assert s.found("name EQ 'Acme' And CONTAINS(ToLower(name),'acme')") == ["Acme"]


@requirement("MIN-38", "SHOULD", "A system option given twice is refused.")
def _(s: Service) -> None:
    s.refused("Clients?$top=1&$top=2")
    s.refused("Clients?$top=1&top=2")


@requirement("MIN-39", "MUST", "cast makes values of texts.")
def _(s: Service) -> None:
    assert s.found("revenue eq cast('100',Edm.Decimal)") == ["Acme"]
    assert len(s.found("cast('3',Edm.Int32) eq 3")) == 4


@requirement("MIN-40", "MUST", "Durations are written with the prefix and without.")
def _(s: Service) -> None:
    assert len(s.found("totalseconds(duration'PT1M') eq 60")) == 4
    assert len(s.found("createdAt lt now() add 'P1D'")) == 4


@requirement("MIN-41", "MUST", "Members of enumerations are written with the type and without.")
def _(s: Service) -> None:
    for text in ("'High'", "BusinessPlatform.Priority'High'"):
        rows = s.get(f"Tasks?$filter=priority eq {text}")["value"]
        assert [row["title"] for row in rows] == ["Top"]


@requirement("MIN-42", "MUST", "A function without parameters is called with and without ().")
def _(s: Service) -> None:
    for path in ("PipelineSummary", "PipelineSummary()"):
        s.get(path, OData_MaxVersion="4.01")


@requirement("MIN-43", "SHOULD", "A parameter alias is a key.")
def _(s: Service) -> None:
    assert s.get(f"Clients(@k)?@k={s.ids['Acme']}")["name"] == "Acme"


@requirement("MIN-44", "SHOULD", "divby divides exactly; a negative index counts from the end.")
def _(s: Service) -> None:
    assert len(s.found("5 divby 2 eq 2.5")) == 4
    assert s.found("substring(name,-3) eq 'cme'") == ["Acme"]


@requirement("MIN-45", "MUST", "$schemaversion takes * and the one there is, and no other.")
def _(s: Service) -> None:
    assert s.fetch("Clients?$schemaversion=*").status == 200
    assert 400 <= s.fetch("Clients?$schemaversion=0.0.1").status < 500

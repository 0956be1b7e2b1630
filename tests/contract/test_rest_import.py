"""Files of clients, contacts and leads come in over HTTP, whole or row by row."""

from __future__ import annotations

import csv
import io
import struct
import zipfile
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import openpyxl
import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.models.client import Client
from tests.contract.conftest import Api

PATH = "/api/crm/import"


def send(api: Api, content: str | bytes, name: str = "table.csv", **fields: Any) -> Any:
    data = content.encode() if isinstance(content, str) else content
    form = {"type": "client", **fields, "file": (io.BytesIO(data), name)}
    form = {key: value for key, value in form.items() if value is not None}
    return api.client.post(PATH, data=form, headers=api.headers)


def workbook(*rows: list[Any]) -> bytes:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    for cells in book.active.iter_rows():
        for cell in cells:
            if isinstance(cell.value, str):
                cell.data_type = "s"
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def clients(api: Api) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = api.get("/odata/Clients?$orderby=id").json["value"]
    return found


def test_a_file_of_clients_is_imported(admin: Api) -> None:
    answer = send(
        admin,
        "Name,E-Mail,Tax ID,City,Country,Revenue,Tags,Do not contact,customFields.segment\n"
        '"Müller, Söhne",office@mueller.example,DE136695976,Köln,DE,"1,234.50",a; b,yes,gold\n'
        "\n"
        "=1+1,,,,,,,,\n",
    )
    assert answer.status_code == 200, answer.text
    assert answer.json == {
        "type": "client", "mode": "allOrNothing", "dryRun": False, "rows": 2, "created": 2,
        "updated": 0, "skipped": 0, "problems": [], "problemCount": 0, "encoding": "utf-8",
        "columns": [{"column": "Revenue", "field": "revenue", "decimalSign": ".",
                     "dateOrder": None, "example": "1,234.50", "readAs": "1234.50"}],
        "preview": [
            {"name": "Müller, Söhne", "email": "office@mueller.example", "taxId": "DE136695976",
             "billingAddress.city": "Köln", "billingAddress.country": "DE", "revenue": "1234.5",
             "tags": "a, b", "doNotContact": "true", "customFields.segment": "gold",
             "currency": "EUR"},
            {"name": "=1+1", "revenue": "0", "tags": "", "doNotContact": "false",
             "currency": "EUR"},
        ],
    }  # fmt: skip
    first, second = clients(admin)
    assert (first["name"], first["taxId"], first["number"]) == (
        "Müller, Söhne", "DE136695976", "C-000001",
    )  # fmt: skip
    assert (first["billingAddress"]["city"], first["revenue"]) == ("Köln", 1234.5)
    assert (first["tags"], first["doNotContact"]) == (["a", "b"], True)
    assert first["customFields"] == {"segment": "gold"}
    assert second["name"] == "=1+1"


@pytest.mark.parametrize(
    "content",
    [
        "name;revenue\nMüller;1.234,50\n".encode(),
        "name;revenue\nMüller;1.234,50\n".encode("cp1252"),
        "\ufeffname;revenue\r\nMüller;1234,50\r\n".encode(),
        "name\trevenue\nMüller\t1234.50\n".encode("utf-16"),
        "name|revenue\n Müller | 1 234,50 \n".encode(),
        '"name";"revenue"\n"Müller";"1234.5"'.encode(),
        workbook(["name", "revenue"], ["Müller", 1234.5]),
        workbook([None, None], ["name", "revenue"], [None, None], ["Müller", "1234.50"]),
    ],
)
def test_the_content_decides_how_a_file_is_read(admin: Api, content: bytes) -> None:
    answer = send(admin, content, "anything.bin")
    assert answer.status_code == 200, answer.text
    (client,) = clients(admin)
    assert (client["name"], client["revenue"]) == ("Müller", 1234.5)


def test_a_price_list_comes_in_and_is_brought_up_to_date_by_its_numbers(admin: Api) -> None:
    table = "Artikel-Nr;Bezeichnung;VK;Einheit\nA-1;Beratung;128,50 €;HUR\nA-2;Reise;50,00 €;C62\n"
    assert send(admin, table, type="product").status_code == 200
    table = "sku;name;unitPrice\nA-2;Anreise;55,5\nA-3;Kurs;390\n"
    again = send(admin, table, type="product", update="sku")
    assert (again.json["updated"], again.json["created"]) == (1, 1), again.text
    listed = admin.get("/odata/Products?$orderby=sku&$select=sku,name,unitPrice,unitCode").json
    assert [(row["sku"], row["name"], row["unitPrice"]) for row in listed["value"]] == [
        ("A-1", "Beratung", 128.5), ("A-2", "Anreise", 55.5), ("A-3", "Kurs", 390),
    ]  # fmt: skip
    assert [row["unitCode"] for row in listed["value"]] == ["HUR", "C62", "C62"]
    wrong = send(admin, "name\nA\n", update="sku")
    assert (wrong.status_code, wrong.json["error"]["details"][0]["field"]) == (400, "update")


def test_cells_of_excel_keep_their_meaning(admin: Api) -> None:
    content = workbook(
        ["lastName", "score", "nextActivityAt", "estimatedValue", "doNotContact", "consentAt"],
        ["=SUM(A1)", 80, datetime(2027, 1, 31, 9, 30), 99.95, True, date(2026, 5, 1)],
    )
    answer = send(admin, content, type="lead")
    assert answer.status_code == 200, answer.text
    (lead,) = admin.get("/odata/Leads").json["value"]
    assert (lead["lastName"], lead["score"], lead["estimatedValue"]) == (
        "=SUM(A1)", 80, Decimal("99.95"),
    )  # fmt: skip
    assert lead["nextActivityAt"] == "2027-01-31T09:30:00.000Z"
    assert (lead["doNotContact"], lead["consentAt"]) == (True, "2026-05-01T00:00:00.000Z")


def test_empty_cells_at_the_end_of_a_heading_are_no_columns(admin: Api) -> None:
    content = workbook(["name", None, ""], ["Acme", None, None], ["Globex", "", None])
    assert send(admin, content).status_code == 200
    assert [client["name"] for client in clients(admin)] == ["Acme", "Globex"]
    assert send(admin, "name,,\nInitech,,\n").status_code == 200


BAD = "name,email,revenue\nAcme,office@acme.example,5\n,x@y.example,1\nGlobex,nobody,much\n"


def test_all_or_nothing_lists_every_problem_by_row_and_column(admin: Api) -> None:
    answer = send(admin, BAD)
    assert answer.status_code == 400, answer.text
    error = answer.json["error"]
    assert error["code"] == "VALIDATION_ERROR"
    assert error["message"].startswith("Nothing was imported; problems: 3.")
    assert [detail["field"] for detail in error["details"]] == [
        "row 3, name", "row 4, email", "row 4, revenue",
    ]  # fmt: skip
    assert clients(admin) == []


def test_a_dry_run_says_the_same_and_keeps_nothing(admin: Api, session: Session) -> None:
    answer = send(admin, BAD, dryRun="true")
    assert answer.status_code == 200, answer.text
    body = answer.json
    assert (body["rows"], body["created"], body["skipped"], body["problemCount"]) == (3, 1, 2, 3)
    assert [(one["row"], one["column"], one["field"]) for one in body["problems"]] == [
        (3, "name", "name"), (4, "email", "email"), (4, "revenue", "revenue"),
    ]  # fmt: skip
    assert session.scalar(select(func.count()).select_from(Client)) == 0
    assert send(admin, "name\nAcme\n").json["created"] == 1
    assert clients(admin)[0]["number"] == "C-000001"


def test_bad_rows_are_left_out_on_request(admin: Api) -> None:
    answer = send(admin, BAD, mode="skipBad")
    assert answer.status_code == 200, answer.text
    assert (answer.json["created"], answer.json["skipped"]) == (1, 2)
    assert [client["name"] for client in clients(admin)] == ["Acme"]


def test_problems_are_listed_up_to_a_limit(admin: Api) -> None:
    answer = send(admin, "name,email\n" + "Acme,nobody\n" * 300, dryRun="true")
    assert (answer.json["problemCount"], len(answer.json["problems"])) == (300, 200)
    refused = send(admin, "name,email\n" + "Acme,nobody\n" * 300)
    assert "Not listed: 100." in refused.json["error"]["message"]


def test_columns_are_mapped_and_ignored_on_request(admin: Api) -> None:
    content = "Partner,Rang,Sitz\nAcme,1,Ulm\n"
    unknown = send(admin, content)
    assert unknown.status_code == 400
    assert [detail["field"] for detail in unknown.json["error"]["details"]] == [
        "Partner", "Rang", "Sitz",
    ]  # fmt: skip
    mapping = '{"Partner": "name", "Rang": null, "Sitz": "billingAddress.city"}'
    answer = send(admin, content, mapping=mapping)
    assert answer.status_code == 200, answer.text
    assert clients(admin)[0]["billingAddress"]["city"] == "Ulm"


@pytest.mark.parametrize(
    ("key", "first"),
    [("externalId", "externalId,name\nerp-1,Old\n"), ("email", "email,name\na@b.example,Old\n")],
)
def test_records_that_are_there_are_changed(admin: Api, key: str, first: str) -> None:
    assert send(admin, first.replace("name", "name,industry").replace("Old", "Old,Steel")).json[
        "created"
    ] == 1  # fmt: skip
    again = send(
        admin, first.replace("Old", "New") + first.splitlines()[1].replace("1", "2").replace(
            "a@b", "c@d"), update=key,
    )  # fmt: skip
    assert again.status_code == 200, again.text
    assert (again.json["updated"], again.json["created"]) == (1, 1)
    assert [(client["name"], client["industry"]) for client in clients(admin)] == [
        ("New", "Steel"), ("Old", None),
    ]  # fmt: skip


def test_twins_are_problems(admin: Api) -> None:
    content = "externalId,name\nerp-1,A\nerp-1,B\n"
    for fields in ({"dryRun": "true"}, {}):
        answer = send(admin, content, mode="skipBad", **fields)
        assert (answer.json["created"], answer.json["problems"][0]["row"]) == (1, 3), fields
        assert answer.json["problems"][0]["column"] == "externalId"
    send(admin, "name,email\nTwin,x@y.example\nTwin 2,x@y.example\n")
    several = send(admin, "name,email\nTwin,x@y.example\n", update="email")
    assert several.status_code == 400
    assert "2 records" in several.json["error"]["details"][0]["message"]


def test_contacts_find_their_client_by_its_external_id(admin: Api) -> None:
    assert send(admin, "name,externalId\nAcme,erp-1\n").status_code == 200
    content = "First name;Surname;clientExternalId\nAda;Lovelace;erp-1\nEva;Roth;erp-9\n"
    answer = send(admin, content, type="contact", mode="skipBad")
    assert answer.json["problems"] == [
        {"row": 3, "column": "clientExternalId", "field": "clientExternalId",
         "message": "there is no such record: erp-9"}
    ]  # fmt: skip
    (contact,) = admin.get("/odata/Contacts").json["value"]
    assert (contact["fullName"], contact["clientId"]) == ("Ada Lovelace", clients(admin)[0]["id"])


def test_records_find_their_owner_by_what_people_call_an_account(admin: Api) -> None:
    keys = {}
    for name, display in (("anna", "Anna Roth"), ("eva", "Eva Klein"), ("eva2", "Eva Klein"),
                          ("gone", "Gone Away")):  # fmt: skip
        made = admin.post("/api/admin/users", {
            "username": name, "displayName": display, "email": f"{name}@b.example",
            "password": "correct horse battery", "roles": ["Sales"],
        })  # fmt: skip
        assert made.status_code == 201, made.text
        keys[name] = made.json["id"]
    gone = admin.patch(f"/api/admin/users/{keys['gone']}", {"status": "disabled"})
    assert gone.status_code == 200, gone.text
    content = "Company name,Company owner\nA,ANNA\nB,Anna Roth\nC,anna@B.example\nD,\n"
    answer = send(admin, f"{content}E,Eva Klein\nF,Gone Away\nG,Nobody\n", mode="skipBad")
    assert [(problem["row"], problem["message"]) for problem in answer.json["problems"]] == [
        (6, "there are several such records: Eva Klein"),
        (7, "there is no such record: Gone Away"), (8, "there is no such record: Nobody"),
    ]  # fmt: skip
    owners = {client["name"]: client["ownerId"] for client in clients(admin)}
    assert [owners[name] for name in "ABC"] == [keys["anna"]] * 3
    assert owners["D"] not in keys.values() and set(owners) == set("ABCD")
    both = send(admin, f"name,Owner,ownerId\nH,Anna Roth,{keys['eva']}\n")
    assert "than the row names besides" in both.json["error"]["details"][0]["message"]


def zipped() -> bytes:
    """An archive that is no workbook."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("hello", "world")
    return file.getvalue()


def bomb() -> bytes:
    """A small xlsx that unpacks to more than is taken."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", "<x/>")
        with archive.open("xl/sharedStrings.xml", "w") as member:
            for _ in range(70):
                member.write(b"0" * 1_000_000)
    return file.getvalue()


def damaged(member: str) -> bytes:
    """A workbook in which the packed bytes of ``member`` begin with what no packer writes."""
    content = bytearray(workbook(["name"], ["A"]))
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        begin = archive.getinfo(member).header_offset
    name, extra = struct.unpack_from("<HH", content, begin + 26)
    content[begin + 30 + name + extra] = 0xFF
    return bytes(content)


@pytest.mark.parametrize(
    ("content", "fields", "status", "field"),
    [
        (b"", {}, 400, "file"),
        (damaged("xl/worksheets/sheet1.xml"), {}, 400, "file"),
        (damaged("xl/workbook.xml"), {}, 400, "file"),
        (b"\n\n", {}, 400, "file"),
        (b"name,name\nA,B\n", {}, 400, "name"),
        (b"name\nA,B\n", {}, 400, "row 2"),
        (b'name\n"A\n', {}, 400, "file"),
        (b"colour\nred\n", {}, 400, "colour"),
        (b"name\nA\n", {"type": "invoice"}, 400, "type"),
        (b"name\nA\n", {"type": None}, 400, "type"),
        (b"name\nA\n", {"mode": "some"}, 400, "mode"),
        (b"name\nA\n", {"dryRun": "maybe"}, 400, "dryRun"),
        (b"name\nA\n", {"update": "name"}, 400, "update"),
        (b"name\nA\n", {"mapping": "[1]"}, 400, "mapping"),
        (b"name\nA\n", {"mapping": "{"}, 400, "mapping"),
        (b"name\nA\n", {"mapping": '{"name": 1}'}, 400, "mapping"),
        (b"name\nA\n", {"mapping": "[" * 50_000}, 400, "mapping"),
        (b"name\nA\n", {"mapping": '{"name": "\\ud800"}'}, 400, "mapping"),
        (b"name\nA\n", {"mapping": '{"\\udc00": "name"}'}, 400, "mapping"),
        (b"name\nA\n", {"mapping": '{"name": "customFields.a\\u0000b"}'}, 400, "mapping"),
        (b"name\nA\n", {"mapping": '{"name": "name", "name": "email"}'}, 400, "mapping"),
        (b",".join([b"x"] * 501) + b"\n", {}, 400, "file"),
        (zipped(), {}, 415, None),
        (b"name\nA\n", {"mapping": '{"x": "name"}'}, 400, "x"),
        (b"name\nA\n", {"colour": "red"}, 400, "colour"),
        (b"PK\x03\x04 and nothing", {}, 400, "file"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", {}, 415, None),
        (b"na\0me\nA\n", {}, 415, None),
        (b"\xff\xfe\x00\xd8\n\x00", {}, 400, "file"),
        (bomb(), {}, 400, "file"),
    ],
    ids=lambda value: str(value)[:30],
)  # fmt: skip
def test_a_bad_import_names_what_is_wrong(
    admin: Api, content: bytes, fields: dict[str, Any], status: int, field: str | None
) -> None:
    answer = send(admin, content, **fields)
    assert answer.status_code == status, answer.text
    if field is not None:
        assert field in [detail["field"] for detail in answer.json["error"]["details"]]
    assert clients(admin) == []


def test_a_request_without_a_file_or_a_form_is_refused(admin: Api) -> None:
    without = admin.client.post(PATH, data={"type": "client"}, headers=admin.headers,
                                content_type="multipart/form-data")  # fmt: skip
    assert without.status_code in (400, 415)
    assert admin.post(PATH, {"type": "client"}).status_code == 415


def test_all_that_is_wrong_with_a_form_is_told_at_once(admin: Api) -> None:
    form = {"nope": "1", "mode": "Some", "mapping": "a\0", "dryRun": "perhaps"}
    answer = admin.client.post(
        PATH, data=form, headers=admin.headers, content_type="multipart/form-data"
    )
    details = {one["field"]: one["message"] for one in answer.json["error"]["details"]}
    assert details == {
        "nope": "is no field of this form", "type": "is required", "file": "is required",
        "mode": "must be one of allOrNothing, skipBad", "mapping": "has the character U+0000",
        "dryRun": "must be one of true, false",
    }  # fmt: skip


def test_a_blank_field_is_one_left_out_where_it_may_be(admin: Api) -> None:
    blank = dict.fromkeys(("mode", "update", "encoding", "mapping", "dryRun"), "")
    assert send(admin, "name\nAcme\n", **blank).status_code == 200
    answer = send(admin, "name\nAcme\n", **blank, type="")
    assert answer.status_code == 400
    (detail,) = answer.json["error"]["details"]
    assert (detail["field"], detail["message"][:21]) == ("type", "must be one of client")


def test_who_may_import(admin: Api, sign_in: Callable[..., Api]) -> None:
    for role, expected in (("Support", 403), ("Viewer", 403), ("Sales", 200), ("Manager", 200)):
        assert send(sign_in(role), "name\nAcme\n").status_code == expected, role
    assert send(sign_in("Accountant"), "company\nAcme\n", type="lead").status_code == 403
    assert len(clients(admin)) == 2


def test_a_template_is_a_file_that_can_be_imported(admin: Api) -> None:
    for kind in ("client", "contact", "lead"):
        template = admin.get(f"/api/crm/import/template?type={kind}")
        assert template.status_code == 200, template.text
        assert template.headers["Content-Disposition"].startswith("attachment")
        rows = list(csv.reader(io.StringIO(template.data.decode("utf-8-sig"))))
        assert len(rows) == 2
        answer = send(admin, template.data, type=kind)
        assert answer.status_code == 200, answer.text
        assert answer.json["created"] == 1
    assert admin.get("/api/crm/import/template?type=invoice").status_code == 400


def test_a_repeated_key_imports_once(admin: Api) -> None:
    headers = {**admin.headers, "Idempotency-Key": "import-1"}
    keyed = Api(admin.client, headers)
    first, again = send(keyed, "name\nAcme\n"), send(keyed, "name\nAcme\n")
    assert (first.status_code, again.status_code) == (200, 200), again.text
    assert first.json == again.json
    assert len(clients(admin)) == 1


AMOUNTS = "Name;Revenue\nAcme;12.500\n"


def test_all_of_a_column_decides_how_its_numbers_are_written(admin: Api) -> None:
    tried = send(admin, f"{AMOUNTS}Beta;1.234.567,89\n", dryRun="true").json
    assert tried["columns"] == [
        {"column": "Revenue", "field": "revenue", "decimalSign": ",", "dateOrder": None,
         "example": "12.500", "readAs": "12500"}
    ]  # fmt: skip
    assert send(admin, f"{AMOUNTS}Beta;1.234.567,89\n").json["created"] == 2
    assert [client["revenue"] for client in clients(admin)] == [12500, Decimal("1234567.89")]


def test_what_could_be_two_is_asked_for_and_said_by_an_option(admin: Api) -> None:
    refused = send(admin, AMOUNTS)
    assert refused.status_code == 400 and clients(admin) == []
    (problem,) = refused.json["error"]["details"]
    assert problem["field"] == "row 2, Revenue"
    assert problem["message"].startswith(
        "could be two numbers: write 12500 or 12.50; no other cell"
    )
    assert send(admin, AMOUNTS, dryRun="true").json["columns"][0]["readAs"] is None
    assert send(admin, AMOUNTS, decimalSign="comma").json["created"] == 1
    assert [client["revenue"] for client in clients(admin)] == [12500]
    wrong = send(admin, AMOUNTS, decimalSign="comma;", dateOrder="monthfirst", encoding="ascii")
    assert {each["field"] for each in wrong.json["error"]["details"]} == {
        "decimalSign", "dateOrder", "encoding",
    }  # fmt: skip


def test_days_are_read_in_the_order_of_their_column(admin: Api) -> None:
    rows = "lastName,nextActivityAt\nDoe,03/04/2026\n"
    assert "could be two dates" in send(admin, rows, type="lead").text
    tried = send(admin, f"{rows}Roe,25/12/2026 14:30\n", type="lead", dryRun="true").json
    assert (tried["columns"][0]["dateOrder"], tried["columns"][0]["readAs"]) == (
        "dayFirst", "2026-04-03",
    )  # fmt: skip
    assert send(admin, rows, type="lead", dateOrder="monthFirst").json["created"] == 1
    lead = admin.get("/odata/Leads").json["value"][0]
    assert lead["nextActivityAt"] == "2026-03-04T00:00:00.000Z"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_an_encoding_that_shows_is_not_asked_for(admin: Api, encoding: str) -> None:
    content = "sep=;\r\nName;City\r\nMüller & Söhne;Besançon\r\n".encode(encoding)
    answer = send(admin, content)
    used = {"utf-8-sig": "utf-8", "cp1252": "windows-1252"}.get(encoding, encoding)
    assert (answer.json["created"], answer.json["encoding"]) == (1, used)
    (client,) = clients(admin)
    assert (client["name"], client["billingAddress"]["city"]) == ("Müller & Söhne", "Besançon")


@pytest.mark.parametrize(("encoding", "name"), [("iso-8859-2", "Michał Wąż"), ("macintosh",
                         "Jürgen Groß"), ("windows-1250", "Łódź Żabka")])  # fmt: skip
def test_an_encoding_that_does_not_show_is_asked_for(admin: Api, encoding: str, name: str) -> None:
    content = f"Name\n{name}\n".encode(encoding)
    refused = send(admin, content)
    assert refused.status_code == 400
    (problem,) = refused.json["error"]["details"]
    assert problem["field"] == "encoding" and "choose its encoding" in problem["message"]
    assert send(admin, content, encoding=encoding).json["created"] == 1
    assert [client["name"] for client in clients(admin)] == [name]

"""What callers send is text and numbers within bounds, and never anything else."""

from __future__ import annotations

import time
from typing import Any
from urllib.parse import quote

import pytest

from tests.contract.conftest import Api

SQL = [
    "' or '1'='1", "'; DROP TABLE clients; --", "x' UNION SELECT password_hash FROM users --",
    "1; SELECT pg_sleep(5)", "1) or sleep(5)#", "' AND (SELECT 1 FROM pg_sleep(5)) IS NULL --",
    "\\' or 1=1 --", "${7*7}", "{{7*7}}", "$(sleep 5)", "`sleep 5`", "randomblob(1000000000)",
    "' || (SELECT sql FROM sqlite_master) || '", '" or ""="', "admin'/*", "%27%20or%201=1",
]  # fmt: skip
TEXTS = [
    "O'Brien", 'say "hello"', "a\\b", "50 % off", "snake_case", "tab\there", "line\nbreak",
    "\u0627\u0644\u0639\u0631\u0628\u064a\u0629 \u202eabc",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467", "e\u0301 is not \u00e9",
    "\u0130stanbul \u0131", "zero\u200bwidth", "<b>&amp;</b>", "; DROP TABLE",
    "\u00df \u017f \ufb01", "\U00010348 gothic", "=1+1", "null", "a,b;c|d",
]  # fmt: skip
OPTIONS = (
    "$filter", "$orderby", "$select", "$expand", "$top", "$skip", "$count", "$search", "$apply",
    "$compute", "$format", "$skiptoken", "$deltatoken",
)  # fmt: skip
SEARCHES = (
    "/api/crm/search?q=", "/api/kb/search?q=", "/api/documents/search?q=",
    "/api/admin/audit?action=", "/api/admin/users?status=",
)  # fmt: skip
# Of the inside: modules, files, statements as the service writes them.
LEAKS = ("Traceback", "sqlite3.", "psycopg", "site-packages", "FROM clients", "$argon2", "/app/")


def ask(api: Api, path: str) -> Any:
    """An answer that is no failure of the service and tells nothing of the inside."""
    answer = api.get(path)
    assert answer.status_code < 500 or answer.status_code == 501, f"{path}: {answer.text}"
    assert [leak for leak in LEAKS if leak in answer.text] == [], path
    return answer


@pytest.mark.requirement("SEC-60", "SEC-61", "SEC-62", "SEC-190", "SEC-191", "INS-05")
@pytest.mark.parametrize("text", SQL)
def test_sql_is_text_or_refused(admin: Api, made: dict[str, int], text: str) -> None:
    raw, literal = quote(text), quote("'" + text.replace("'", "''") + "'")
    for option in OPTIONS:
        answer = ask(admin, f"/odata/Clients?{option}={raw}")
        assert answer.status_code in (200, 400, 404, 406, 410, 415), (option, answer.text)
    for option in (
        f"$filter=name eq {literal}", f"$filter=contains(name,{literal})",
        f"$filter=startswith(name,{literal}) or endswith(email,{literal})",
        f"$filter=name in ({literal})", f"$filter=concat(name,{literal}) eq {literal}",
    ):  # fmt: skip
        answer = ask(admin, f"/odata/Clients?{option}")
        assert (answer.status_code, answer.json["value"]) == (200, []), option
    for path in SEARCHES:
        assert ask(admin, path + raw).status_code in (200, 400)
    assert admin.get("/odata/Clients/$count").text == "1"


@pytest.mark.requirement("SEC-63")
def test_signs_of_patterns_are_plain_characters(admin: Api) -> None:
    for name in ("50% off", "50 off", "a_b", "axb", "a\\b", "a\\%b"):
        assert admin.post("/odata/Clients", {"name": name}).status_code == 201
    for function, text, found in (
        ("contains", "%", ["50% off", "a\\%b"]), ("contains", "_", ["a_b"]),
        ("startswith", "a_", ["a_b"]), ("startswith", "5_", []),
        ("endswith", "% off", ["50% off"]), ("endswith", "%b", ["a\\%b"]),
        ("contains", "\\", ["a\\%b", "a\\b"]), ("startswith", "a\\", ["a\\%b", "a\\b"]),
    ):  # fmt: skip
        answer = admin.get(f"/odata/Clients?$filter={function}(name,{quote(repr_odata(text))})")
        assert sorted(row["name"] for row in answer.json["value"]) == found, (function, text)


def repr_odata(text: str) -> str:
    """A literal of OData."""
    return "'" + text.replace("'", "''") + "'"


@pytest.mark.requirement("SEC-64")
def test_any_text_comes_back_and_is_found_and_sorted(admin: Api) -> None:
    keys = {}
    for text in TEXTS:
        answer = admin.post("/odata/Clients", {"name": "x", "notes": text})
        assert answer.status_code == 201, answer.text
        keys[text] = answer.json["id"]
    for text, key in keys.items():
        assert admin.get(f"/odata/Clients({key})").json["notes"] == text
        for test in ("notes eq {}", "contains(notes,{})"):
            options = quote(test.format(repr_odata(text)))
            found = admin.get(f"/odata/Clients?$filter={options}").json["value"]
            assert key in [row["id"] for row in found], (test, text)
    up = admin.get("/odata/Clients?$orderby=notes,id&$select=id").json["value"]
    down = admin.get("/odata/Clients?$orderby=notes desc,id desc&$select=id").json["value"]
    assert [row["id"] for row in up] == [row["id"] for row in reversed(down)]


@pytest.mark.requirement("SEC-65")
def test_what_no_database_can_keep_is_refused(admin: Api) -> None:
    for text in ("a\\u0000b", "\\ud800", "\\udfff x"):
        for path, name in (("/odata/Clients", "name"), ("/api/ai/chat", "message")):
            answer = admin.client.post(
                path, data=f'{{"{name}": "{text}"}}', content_type="application/json",
                headers=admin.headers,
            )  # fmt: skip
            assert answer.status_code == 400, (path, text, answer.text)
    for raw in ("%00", "%ff%fe", "%ed%a0%80", "a%00b"):
        for path in ("/odata/Clients?$filter=name eq '{}'", "/api/crm/search?q={}",
                     "/odata/Clients?$search={}", "/api/kb/search?q={}"):  # fmt: skip
            assert admin.get(path.format(raw)).status_code == 400, (path, raw)


@pytest.mark.requirement("SEC-75")
@pytest.mark.only_on("sqlite")
def test_xml_is_not_read(admin: Api) -> None:
    entity = b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>'
    for kind in ("application/xml", "text/xml", "application/atom+xml"):
        for path in ("/odata/Clients", "/api/crm/leads/1/convert", "/api/auth/login"):
            answer = admin.client.post(path, data=entity, content_type=kind, headers=admin.headers)
            assert answer.status_code == 415, (path, kind, answer.text)
            assert "root:" not in answer.text


@pytest.mark.requirement("SEC-76")
@pytest.mark.only_on("sqlite")
@pytest.mark.parametrize(
    "query",
    ["$top=1&$top=2", "$filter=id eq 1&$filter=id eq 2", "$top=1&top=2", "$foo=1", "$Filter2=1",
     "$orderby=name&$orderby=id", "$count=true&$count=false"],
)  # fmt: skip
def test_an_option_twice_or_unknown_is_refused(admin: Api, query: str) -> None:
    assert admin.get(f"/odata/Clients?{query}").status_code == 400


@pytest.mark.requirement("SEC-78")
@pytest.mark.only_on("sqlite")
def test_the_host_does_not_come_back(admin: Api, made: dict[str, int]) -> None:
    evil = "evil.example"
    headers = {"Host": evil, "X-Forwarded-Host": evil, "Forwarded": f"host={evil}"}
    for path in (
        "/odata/", "/odata/Clients", "/odata/Clients?$top=0&$count=true", "/odata/$metadata",
        "/odata/Clients?$expand=*&$format=application/json;odata.metadata=full", "/api/webhooks",
        "/openapi.json", "/docs", "/nothing",
    ):  # fmt: skip
        answer = admin.get(path, headers={**headers, "Prefer": "odata.maxpagesize=1"})
        assert evil not in answer.text + str(answer.headers), path


@pytest.mark.requirement("SEC-110", "SEC-111", "FUZZ-05")
@pytest.mark.parametrize("depth", [200, 2000])
def test_depth_is_refused_and_breadth_is_refused_or_answered(admin: Api, depth: int) -> None:
    for text in (
        "(" * depth + "id eq 1" + ")" * depth, "not " * depth + "(id eq 1)",
        "tolower(" * depth + "name" + ")" * depth + " eq 'x'", "-" * depth + "1 eq id",
        "Client/" * depth + "id eq 1",
        "Contacts/any(c:c/Client/" * (depth // 4) + "id eq 1" + ")" * (depth // 4),
    ):  # fmt: skip
        began = time.thread_time()
        assert ask(admin, f"/odata/Contacts?$filter={quote(text)}").status_code in (400, 414)
        assert time.thread_time() - began < 1.5, text[:20]
    for text in (
        " or ".join(f"id eq {number}" for number in range(depth)),
        " and ".join(f"name ne 'n{number}'" for number in range(depth)),
        f"id in ({','.join(map(str, range(depth * 20)))})",
    ):
        began = time.thread_time()
        assert ask(admin, f"/odata/Clients?$filter={quote(text)}").status_code in (200, 400, 414)
        assert time.thread_time() - began < 2, text[:20]


@pytest.mark.requirement("SEC-112")
@pytest.mark.only_on("sqlite")
def test_expansion_has_a_depth(admin: Api) -> None:
    def nested(depth: int) -> str:
        text = "Client"
        for level in range(depth - 1):
            text = f"{'Contacts' if level % 2 == 0 else 'Client'}($expand={text})"
        return text

    for depth in (8, 40, 400):
        answer = ask(admin, f"/odata/Contacts?$expand=Client($expand={nested(depth)})")
        assert answer.status_code == 400, depth
    assert ask(admin, "/odata/Clients?$expand=Contacts,Contacts").status_code == 400
    assert ask(admin, "/odata/Clients?$expand=*($levels=max)").status_code in (200, 400)


@pytest.mark.requirement("SEC-113", "SEC-114")
@pytest.mark.parametrize(
    "query",
    ["$top=-1", "$top=x", "$top=1.5", "$top=1e30", "$skip=-1", "$skip=x", "$top=", "$skip=0x10",
     "$count=maybe", "$top=" + "9" * 31, "$skip=" + "9" * 31, "$top=1;2", "$skiptoken=x",
     "$filter=id eq " + "9" * 31, "$filter=totalRevenue eq 1e400",
     "$filter=createdAt gt 2026-02-30T00:00:00Z", "$filter=createdAt gt 99999-01-01T00:00:00Z",
     "$filter=createdAt gt 0000-00-00",
     "$filter=id div 0 eq 1", "$filter=id mod 0 eq 1", "$filter=totalRevenue div 0 eq 1",
     "$filter=id add 9223372036854775807 gt 1", "$filter=id mul 9223372036854775807 gt 1",
     "$filter=-9223372036854775808 lt id", "$filter=id eq INF", "$filter=id eq NaN",
     "$filter=totalRevenue eq " + "9" * 400, "$filter=duration'P99999999999D' eq duration'PT1S'"],
)  # fmt: skip
def test_odd_paging_and_numbers_are_no_failure(
    admin: Api, made: dict[str, int], query: str
) -> None:
    answer = ask(admin, f"/odata/Clients?{query}")
    assert answer.status_code in (200, 400, 410, 501), answer.text
    if query.startswith(("$top=-", "$top=x", "$skip=-", "$skip=x", "$top=1.", "$count=m")) or (
        "createdAt" in query
    ):
        assert answer.status_code == 400


@pytest.mark.requirement("SEC-114")
def test_negative_and_enormous_money_is_refused(admin: Api, made: dict[str, int]) -> None:
    for price in (1e300, "1e400", 10**18, "NaN", "Infinity", "x"):
        line = {"description": "x", "unitPrice": price, "quantity": 1}
        body = {"clientId": made["Clients"], "LineItems": [line]}
        assert admin.post("/odata/Invoices", body).status_code == 400, price
    for amount in (-1, 0, 0.001, 1e300, "1", None, True, [1]):
        body = {"amount": amount, "date": "2026-01-31", "method": "Transfer"}
        answer = admin.post(f"/api/invoices/{made['Invoices']}/payments", body)
        assert answer.status_code == 400, (amount, answer.text)
    for day in ("2026-02-30", "0000-01-01", "10000-01-01", "yesterday", 5, ""):
        answer = admin.post("/odata/Tasks", {"title": "x", "dueDate": day})
        assert answer.status_code == 400, day


@pytest.mark.requirement("SEC-115")
def test_a_batch_goes_in_no_circle(admin: Api) -> None:
    def batch(*requests: dict[str, Any]) -> Any:
        return admin.post(
            "/odata/$batch", {"requests": list(requests)}, headers={"OData-Version": "4.01"}
        )

    one = {"id": "1", "method": "get", "url": "Clients", "dependsOn": ["2"]}
    two = {"id": "2", "method": "get", "url": "Clients", "dependsOn": ["1"]}
    assert batch(one, two).status_code == 400
    assert (
        batch({"id": "1", "method": "get", "url": "Clients", "dependsOn": ["1"]}).status_code == 400
    )
    nested = {"id": "1", "method": "post", "url": "$batch", "body": {"requests": []}}
    answer = batch(nested)
    assert answer.status_code == 400 or answer.json["responses"][0]["status"] >= 400


@pytest.mark.requirement("SEC-121")
@pytest.mark.parametrize(
    "pattern",
    ["(a+)+$", "(a|a)*$", "(.*a){20}", "^(([a-z])+.)+[A-Z]([a-z])+$", "(?=a)", "a{1,9999}"],
)
def test_no_pattern_runs_for_ever(admin: Api, pattern: str) -> None:
    assert admin.post("/odata/Clients", {"name": "a" * 200}).status_code == 201
    text = quote(f"matchesPattern(name,'{pattern}')")
    assert ask(admin, f"/odata/Clients?$filter={text}").status_code in (200, 400, 501)


@pytest.mark.requirement("FUZZ-M1", "FUZZ-M2")
def test_conditions_and_their_negations_add_up(admin: Api) -> None:
    for name, site in (("a", "x"), ("b", None), ("c", "y"), ("d", None), ("e", "x")):
        admin.post("/odata/Clients", {"name": name, "industry": site})

    def count(text: str) -> int:
        return int(admin.get(f"/odata/Clients/$count?$filter={quote(text)}").text)

    conditions = [
        "industry eq 'x'", "contains(industry,'x')", "name gt 'b'", "industry ne 'y'",
        "industry in ('x','z')", "Contacts/any()", "length(industry) gt 0",
    ]  # fmt: skip
    everything = int(admin.get("/odata/Clients/$count").text)
    for one in conditions:
        unknown = count(f"({one}) eq null")
        assert count(one) + count(f"not ({one})") + unknown == everything, one
        for other in conditions:
            both, either = count(f"({one}) and ({other})"), count(f"({one}) or ({other})")
            assert count(one) + count(other) == both + either, (one, other)


@pytest.mark.requirement("FUZZ-M4")
@pytest.mark.only_on("sqlite")
def test_select_shows_exactly_what_was_asked_for(admin: Api, made: dict[str, int]) -> None:
    for name in made:
        row = admin.get(f"/odata/{name}?$top=1").json["value"][0]
        plain = [key for key in row if "@" not in key]
        for chosen in (plain[:1], plain[1:4], plain[::3]):
            answer = admin.get(f"/odata/{name}?$top=1&$select={','.join(chosen)}")
            shown = [key for key in answer.json["value"][0] if "@" not in key]
            assert sorted(shown) == sorted(chosen), name

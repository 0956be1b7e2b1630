"""The search of customer relations over HTTP: what is found, in which order, and by whom."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask

from app.crm.search import service
from app.extensions import db
from migrations import search_index
from tests.contract.conftest import Api

pytestmark = pytest.mark.both_databases


def make(api: Api, entity: str, **values: Any) -> int:
    answer = api.post(f"/odata/{entity}", values)
    assert answer.status_code == 201, answer.text
    key: int = answer.json["id"]
    return key


def find(api: Api, q: str, **query: Any) -> Any:
    return api.get("/api/crm/search", query_string={"q": q, **query})


def names(answer: Any) -> list[str]:
    assert answer.status_code == 200, answer.text
    return [item["title"] for item in answer.json["items"]]


def test_the_answer_has_the_shape_of_the_contract(admin: Api) -> None:
    key = make(admin, "Clients", name="Acme GmbH", email="a@acme.example", taxId="DE136695976")
    answer = find(admin, "acm", type="client")
    assert answer.json == {
        "query": "acm",
        "type": "client",
        "total": 1,
        "items": [
            {
                "type": "client",
                "id": key,
                "title": "Acme GmbH",
                "subtitle": "a@acme.example",
                "score": answer.json["items"][0]["score"],
                "matchedFields": ["name", "email"],
                "highlight": "<mark>Acm</mark>e GmbH",
                "url": f"/odata/Clients({key})",
                "record": {
                    "name": "Acme GmbH", "email": "a@acme.example", "taxId": "DE136695976",
                    "status": "Active",
                },
            }
        ],
        "possibleDuplicates": [],
    }  # fmt: skip
    assert 0 < answer.json["items"][0]["score"] < 1
    assert admin.get("/api/v1/crm/search?q=acm").json == answer.json


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("muller", True), ("MÜLLER", True), ("sohne", True), ("müll", True), ("ller", True),
        ("mulelr", True), ("Muelller", True), ("mullre sohne", True), ("sohne muller", True),
        ("uller", True), ("DE136695976", True), ("136695976", True), ("buero@mueller", True),
        ("Haus, Müller", True), ("m ller", True), ("miller haus", True), ("mittler", False),
        ("DE136695967", False), ("zzzz", False), ("müller xyz", False), ("%%", False),
        ("m_ller", False), ("100%", False), ("' OR 1=1 --", False), ('"müller"', True),
        ("mü", True), ("er", False), ("C-000001", True), ("Straße", True), ("strasse", True),
        ("grosshandlung", True), ("großhandlugn", True), ("oresund", True), ("sodnhe", False),
    ],
)  # fmt: skip
def test_words_are_found_whatever_their_case_accents_and_typing_errors(
    admin: Api, typed: str, found: bool
) -> None:
    name = "Haus Müller & Söhne Großhandlung Øresund Straße"
    make(admin, "Clients", name=name, email="buero@mueller.example", taxId="DE136695976")
    make(admin, "Clients", name="Something Else", email="x@other.example")
    assert names(find(admin, typed)) == ([name] if found else [])


@pytest.mark.parametrize(
    ("field", "stored", "typed"),
    [
        ("taxId", "NL004495445B01", "nl 0044.95.445.b01"),
        ("taxId", "atu 13585627", "AT-U13585627"),
        ("taxId", "BE0428759497", "be 428.759.497"), ("taxId", "GB 980 7806 84", "gb 9807806-84"),
        ("email", "office@bücher.example", "Office@xn--bcher-kva.example"),
        ("email", "office@xn--bcher-kva.example", "office@Bücher.example"),
        ("phone", "+49 (0)30 901820", "0049 30 90 18 20"),
    ],
)  # fmt: skip
def test_what_is_the_same_is_found_however_it_is_written(
    admin: Api, field: str, stored: str, typed: str
) -> None:
    make(admin, "Clients", name="Acme", **{field: stored})
    make(admin, "Clients", name="Something Else")
    for text in (typed, stored):
        answer = find(admin, text)
        assert names(answer) == ["Acme"]
        assert field in answer.json["items"][0]["matchedFields"]


def test_the_best_comes_first(admin: Api) -> None:
    for name in ("Beyond Nordwind", "Nordwind Energie", "Nordwind", "Nordwinder", "Nordwond AG",
                 "Supernordwind"):  # fmt: skip
        make(admin, "Clients", name=name)
    make(admin, "Clients", name="Mailer", email="info@nordwind.example")
    answer = find(admin, "nordwind")
    assert names(answer) == [
        "Nordwind", "Nordwind Energie", "Beyond Nordwind", "Nordwinder", "Mailer",
        "Supernordwind", "Nordwond AG",
    ]  # fmt: skip
    scores = [item["score"] for item in answer.json["items"]]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] == 1
    assert answer.json["items"][4]["matchedFields"] == ["email"]
    assert answer.json["items"][4]["highlight"] == "info@<mark>nordwind</mark>.example"
    assert answer.json["items"][6]["highlight"] == "<mark>Nordwond</mark> AG"


def test_pages_have_every_record_once(admin: Api) -> None:
    for number in range(12):
        make(admin, "Clients", name=f"Page {number:02} {'x' * number}")
    whole = names(find(admin, "page"))
    parts = [names(find(admin, "page", limit=5, offset=offset)) for offset in (0, 5, 10, 15)]
    assert [len(part) for part in parts] == [5, 5, 2, 0]
    assert [name for part in parts for name in part] == whole
    assert find(admin, "page", offset=5000).json["total"] == 12


def test_pages_reach_beyond_the_rows_that_are_ranked_together(
    admin: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "BLOCK", 3)
    monkeypatch.setattr(service, "ENOUGH", 0)
    keys = {("client", make(admin, "Clients", name=f"Acme {number}")) for number in range(8)}
    keys |= {("lead", make(admin, "Leads", company=f"Acme {number}")) for number in range(2)}
    whole = find(admin, "acme", type="all", limit=20).json
    assert whole["total"] == 10
    assert {(item["type"], item["id"]) for item in whole["items"]} == keys
    paged = []
    for offset in range(0, 12, 2):
        page = find(admin, "acme", type="all", limit=2, offset=offset).json
        assert page["total"] == 10
        paged += [(item["type"], item["id"]) for item in page["items"]]
    assert paged == [(item["type"], item["id"]) for item in whole["items"]]


def test_every_type_is_found(admin: Api) -> None:
    client = make(admin, "Clients", name="Globex")
    contact = make(admin, "Contacts", firstName="Ada", lastName="Globova", email="ada@x.example")
    lead = make(admin, "Leads", company="Globe Oy", lastName="Virtanen")
    sale = make(admin, "Opportunities", name="Globex pumps", clientId=client, amount=1200.5)
    found = {
        type_: [
            (item["type"], item["id"]) for item in find(admin, "glob", type=type_).json["items"]
        ]
        for type_ in ("client", "contact", "lead", "opportunity", "all")
    }
    assert found["client"] == [("client", client)]
    assert found["contact"] == [("contact", contact)]
    assert found["lead"] == [("lead", lead)]
    assert found["opportunity"] == [("opportunity", sale)]
    assert sorted(found["all"]) == sorted(
        [("client", client), ("contact", contact), ("lead", lead), ("opportunity", sale)]
    )
    item = find(admin, "globex pumps", type="opportunity").json["items"][0]
    assert item["record"] == {
        "name": "Globex pumps", "stage": "Prospecting", "amount": 1200.5, "currency": "EUR",
        "clientId": client,
    }  # fmt: skip
    person = find(admin, "ada globova", type="contact").json["items"][0]
    assert (person["title"], person["highlight"]) == (
        "Ada Globova", "<mark>Ada</mark> <mark>Globova</mark>",
    )  # fmt: skip


def test_possible_duplicates_are_told(admin: Api) -> None:
    first = make(admin, "Clients", name="Initech GmbH", taxId="DE136695976")
    again = make(admin, "Clients", name="INITECH  Gmbh.")
    typo = make(admin, "Clients", name="Initehc AG")
    taxed = make(admin, "Clients", name="Initech Holding", taxId="DE136695976")
    make(admin, "Clients", name="Initech Branch 1")
    make(admin, "Clients", name="Initech Branch 2")
    pairs = find(admin, "initech").json["possibleDuplicates"]
    assert pairs == [[first, again], [first, typo], [first, taxed], [again, typo]]


def test_markup_in_names_is_escaped(admin: Api) -> None:
    make(admin, "Clients", name="<b>Evil</b> & <script>alert(1)</script>")
    item = find(admin, "evil").json["items"][0]
    assert item["highlight"] == (
        "&lt;b&gt;<mark>Evil</mark>&lt;/b&gt; &amp; &lt;script&gt;alert(1)&lt;/script&gt;"
    )


@pytest.mark.requirement("SEC-63")
def test_signs_of_patterns_are_plain_characters(admin: Api) -> None:
    make(admin, "Clients", name="100% Cotton_Mill")
    make(admin, "Clients", name="100x CottonXMill")
    assert names(find(admin, "100%")) == ["100% Cotton_Mill"]
    assert names(find(admin, "cotton_mill")) == ["100% Cotton_Mill"]
    assert names(find(admin, "c%n")) == []
    assert names(find(admin, "\\%")) == []


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("", "q"), ("?q=", "q"), ("?q=a", "q"), ("?q=%20a%20", "q"), ("?q=" + "x" * 201, "q"),
        ("?q=a+b+c+d+e+f+g+h+i+j+k", "q"), ("?q=ab&type=user", "type"),
        ("?q=ab&type=", "type"), ("?q=ab&limit=0", "limit"), ("?q=ab&limit=101", "limit"),
        ("?q=ab&limit=x", "limit"), ("?q=ab&offset=-1", "offset"),
        ("?q=ab&offset=1e30", "offset"), ("?q=ab&colour=red", "colour"),
    ],
)  # fmt: skip
def test_a_bad_search_names_the_field(admin: Api, query: str, field: str) -> None:
    answer = admin.get(f"/api/crm/search{query}")
    assert answer.status_code == 400, answer.text
    assert answer.json["error"]["code"] == "VALIDATION_ERROR"
    assert [detail["field"] for detail in answer.json["error"]["details"]] == [field]


@pytest.mark.requirement("SEC-62")
@pytest.mark.parametrize(
    "q", ["\U0001f469\u200d\U0001f527", "a\u202eb", "^^", "NEAR(a b)", "a* OR b", "--", "..",
          "a" * 200, "é" * 100, "東京株式", "\u0301\u0301", "x\ny", "{a}:b", '"', "-"],
)  # fmt: skip
def test_odd_texts_find_nothing_and_break_nothing(admin: Api, q: str) -> None:
    make(admin, "Clients", name="Acme")
    answer = find(admin, (q + q)[:200])
    assert answer.status_code == 200, answer.text
    assert answer.json["total"] == 0


def test_only_who_may_read_finds(admin: Api, sign_in: Callable[..., Api]) -> None:
    make(admin, "Leads", company="Acme Lead")
    make(admin, "Clients", name="Acme")
    accountant = sign_in("Accountant")
    refused = find(accountant, "acme", type="lead")
    assert (refused.status_code, refused.json["error"]["code"]) == (403, "FORBIDDEN")
    assert [item["type"] for item in find(accountant, "acme", type="all").json["items"]] == [
        "client"
    ]
    support = sign_in("Support")
    assert find(support, "acme", type="opportunity").status_code == 403
    assert find(support, "acme", type="all").json["total"] == 2


def test_a_role_that_reads_none_of_the_types_searches_none(
    admin: Api, sign_in: Callable[..., Api]
) -> None:
    body = {"name": "Talker", "permissions": {"ai:chat": "all"}}
    assert admin.post("/api/admin/roles", body).status_code == 201
    talker = sign_in("Talker")
    for type_ in ("all", "client"):
        assert find(talker, "acme", type=type_).status_code == 403


def test_a_role_that_reads_own_records_finds_and_counts_those(
    admin: Api, sign_in: Callable[..., Api]
) -> None:
    role = {
        "name": "Scout",
        "permissions": {"clients:read": "own", "clients:create": "all", "leads:read": "own"},
    }
    made = admin.post("/api/admin/roles", role)
    assert made.status_code == 201, made.text
    make(admin, "Clients", name="Acme Foreign", email="a@acme.example")
    scout = sign_in("Scout")
    assert find(scout, "acme").json["total"] == 0
    assert find(scout, "acmee").json["total"] == 0
    own = make(scout, "Clients", name="Acme Own", email="a@acme.example")
    answer = find(scout, "acme", type="all").json
    assert [item["id"] for item in answer["items"]] == [own]
    assert (answer["total"], answer["possibleDuplicates"]) == (1, [])
    assert [item["id"] for item in find(scout, "acmee owm").json["items"]] == []
    assert [item["id"] for item in find(scout, "acmee own").json["items"]] == [own]


@pytest.mark.only_on("sqlite")
def test_the_same_is_found_whether_rows_wait_or_have_entered_the_index(
    app: Flask, admin: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "BLOCK", 3)
    texts = ["Nordwind", "Nordwind Energie", "Beyond Nordwind", "Nordwinder", "Nordwond AG",
             "Supernordwind", "Süd Wind", "Nord & Wind", "Wind Nord"]  # fmt: skip
    keys = [make(admin, "Clients", name=text, email=f"x@{at}.example") for at, text in
            enumerate(texts)]  # fmt: skip
    make(admin, "Clients", name="Mailer", email="info@nordwind.example")

    def found() -> list[Any]:
        return [find(admin, q, limit=3, offset=offset).json
                for q in ("nordwind", "nord wind", "wnid", "nordwidn", "süd", "energie nordwind",
                          "nord", "example", "zzz") for offset in (0, 3, 6)]  # fmt: skip

    def enter() -> None:
        with app.app_context(), db.engine.begin() as connection:
            search_index.enter_waiting(connection, "clients")

    waiting = found()
    enter()
    assert found() == waiting
    for key in keys[::2]:  # they wait again, and the index has what they were called
        admin.patch(f"/odata/Clients({key})", {"name": "Zephyr Zephyr"})
    for key, text in list(zip(keys, texts, strict=True))[::2]:
        admin.patch(f"/odata/Clients({key})", {"name": text})
    assert found() == waiting
    for key in keys[::2]:
        admin.patch(f"/odata/Clients({key})", {"name": "Zephyr Zephyr"})
    changed = found()
    assert changed != waiting
    assert admin.delete(f"/odata/Clients({keys[1]})").status_code == 204
    assert find(admin, "energie").json["total"] == 0
    enter()
    assert find(admin, "energie").json["total"] == 0

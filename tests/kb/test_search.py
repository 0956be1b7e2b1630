"""Finding articles over HTTP: by words and by meaning, what may be read, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from app.search import embedding
from tests.contract.conftest import Api

ARTICLES = {
    "password": ("Resetting a password", "Choose **Forgot password** on the sign-in page. A mail"
                 " with a link arrives within a few minutes; the link works for an hour."),
    "invoice": ("Paying an invoice by card", "Open the invoice and choose *Pay*. Cards of all kinds"
                " are accepted. A receipt is sent to the billing address."),
    "scanner": ("Setting up the S40 scanner", "Connect the scanner by USB, install the driver and"
                " press the green button. Blurry pages mean that the glass wants cleaning."),
}  # fmt: skip
Index = Callable[[], None]


def make(api: Api, name: str, **values: Any) -> int:
    title, body = ARTICLES[name]
    defaults = {"title": title, "body": body, "status": "Published", "visibility": "Public"}
    answer = api.post("/odata/KbArticles", defaults | values)
    assert answer.status_code == 201, answer.text
    return int(answer.json["id"])


def search(api: Api, q: str, **options: Any) -> dict[str, Any]:
    answer = api.get("/api/kb/search", query_string={"q": q, **options})
    assert answer.status_code == 200, answer.text
    body: dict[str, Any] = answer.json
    answer.close()  # as a server does when the answer is out
    return body


def ids(answer: dict[str, Any]) -> list[int]:
    return [item["id"] for item in answer["items"]]


@pytest.fixture
def articles(api: Api, index: Index) -> dict[str, int]:
    """The articles, published and found."""
    keys = {name: make(api, name) for name in ARTICLES}
    index()
    return keys


def test_short_forms_find_what_they_stand_for(api: Api, index: Index) -> None:
    agreement = make(api, "invoice", title="Service level agreements", body="By plan, see there.")
    password = make(api, "password")
    make(api, "scanner")
    index()
    for mode in ("hybrid", "keyword", "semantic"):
        assert ids(search(api, "sla", mode=mode))[:1] == [agreement], mode
        assert ids(search(api, "pw", mode=mode))[:1] == [password], mode


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("how do I reset my password", "password"),
        ("I forgot my login credentials", "password"),
        ("settle a bill with my credit card", "invoice"),
        ("the document feeder gives blurred images", "scanner"),
        ("passwords", "password"),
    ],
)
def test_a_question_finds_its_article_by_meaning(
    api: Api, articles: dict[str, int], question: str, expected: str
) -> None:
    answer = search(api, question)
    assert answer["mode"] == "hybrid"
    assert ids(answer)[0] == articles[expected]


def test_the_answer_has_the_members_of_the_contract(api: Api, articles: dict[str, int]) -> None:
    answer = search(api, "forgot password", limit=1)
    assert (answer["query"], answer["mode"], len(answer["items"])) == (
        "forgot password", "hybrid", 1,
    )  # fmt: skip
    assert answer.keys() == {"query", "mode", "total", "items"}
    item = answer["items"][0]
    key = articles["password"]
    assert item.pop("updatedAt").endswith("Z")
    assert 0 < item.pop("score") <= 1
    assert item == {
        "id": key, "title": "Resetting a password", "slug": "resetting-a-password",
        "summary": None, "category": None, "language": "en", "visibility": "Public",
        "url": f"/odata/KbArticles({key})",
        "snippet": "Choose <mark>Forgot password</mark> on the sign-in page. A mail with a link"
        " arrives within a few minutes; the link works for an hour.",
    }  # fmt: skip


def test_scores_go_down_and_words_alone_find_only_texts_that_have_them(
    api: Api, articles: dict[str, int]
) -> None:
    answer = search(api, "page", mode="keyword")
    assert answer["mode"] == "keyword"
    assert set(ids(answer)) == {articles["password"], articles["scanner"]}
    scores = [item["score"] for item in search(api, "password page")["items"]]
    assert scores == sorted(scores, reverse=True)


def test_by_meaning_alone(api: Api, articles: dict[str, int]) -> None:
    answer = search(api, "I forgot my login credentials", mode="semantic")
    assert (answer["mode"], ids(answer)[0]) == ("semantic", articles["password"])


def test_nonsense_finds_nothing(api: Api, articles: dict[str, int]) -> None:
    assert search(api, "xqzv wvut", mode="keyword") == {
        "query": "xqzv wvut", "mode": "keyword", "total": 0, "items": [],
    }  # fmt: skip


def test_only_what_is_published_is_found_and_at_once_not_any_more(api: Api, index: Index) -> None:
    key = make(api, "password", status="Draft")
    index()
    assert ids(search(api, "password")) == []
    path = f"/odata/KbArticles({key})"
    api.patch(path, {"status": "Published"})
    index()
    assert ids(search(api, "password")) == [key]
    assert api.get(path).json["indexedAt"] is not None
    api.patch(path, {"status": "Draft"})
    assert ids(search(api, "password")) == []
    api.patch(path, {"status": "Published"})
    index()
    assert ids(search(api, "password")) == [key]
    api.delete(path)
    assert ids(search(api, "password")) == []


def test_an_edited_article_shows_nothing_of_its_old_text(api: Api, index: Index) -> None:
    key = make(api, "password")
    index()
    assert "link" in search(api, "password")["items"][0]["snippet"]
    api.patch(f"/odata/KbArticles({key})", {"body": "Ask your administrator.", "summary": "Ask."})
    assert search(api, "password")["items"][0]["snippet"] == "Ask."
    index()
    assert "administrator" in search(api, "password")["items"][0]["snippet"]


def test_behind_the_best_that_are_not_to_be_read_others_are_found(
    api: Api, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.kb.search.CANDIDATES", 1)
    keys = [make(api, "password") for _ in range(4)]
    index()
    order = ids(search(api, "reset password", limit=4))
    assert sorted(order) == keys
    for key in order[:2]:  # the index still has them
        assert api.patch(f"/odata/KbArticles({key})", {"status": "Archived"}).status_code == 200
    page = search(api, "reset password", limit=4)
    assert (ids(page), page["total"]) == (order[2:], 2)


def test_filters_by_category_and_language(api: Api, index: Index) -> None:
    english = make(api, "password", category="Account")
    german = make(api, "password", language="de", category="O'Konto")
    index()
    assert ids(search(api, "password", category="Account")) == [english]
    assert ids(search(api, "password", category="O'Konto")) == [german]
    assert ids(search(api, "password", language="de")) == [german]
    assert ids(search(api, "password", language="de-AT")) == [german]
    assert ids(search(api, "password", category="None such")) == []


def test_words_are_found_in_other_endings_of_their_own_language(api: Api, index: Index) -> None:
    german = api.post(
        "/odata/KbArticles",
        {"title": "Rechnungen bezahlen", "body": "Die Größe der Überweisung steht im Beleg.",
         "language": "de", "status": "Published"},
    ).json["id"]  # fmt: skip
    index()
    for question in ("rechnung", "RECHNUNGEN", "grosse", "überweisungen", "uberweisung"):
        assert ids(search(api, question, mode="keyword")) == [german], question


def test_text_of_the_snippet_is_no_markup(api: Api, index: Index) -> None:
    api.post(
        "/odata/KbArticles",
        {"title": "Escaping", "body": "Use `<b>escaping</b> & care` <script>alert(1)</script>.",
         "status": "Published"},
    )  # fmt: skip
    index()
    snippet = search(api, "escaping")["items"][0]["snippet"]
    assert snippet == "Use &lt;b&gt;<mark>escaping</mark>&lt;/b&gt; &amp; care ."


@pytest.mark.parametrize("role", ["Viewer", "Sales", "Support"])
def test_every_role_finds_published_articles(
    articles: dict[str, int], sign_in: Callable[..., Api], role: str
) -> None:
    assert ids(search(sign_in(role), "password"))[0] == articles["password"]


AUTHOR = {"kb:read": "own", "kb:create": "all", "kb:publish": "all"}


@pytest.fixture
def author(api: Api, sign_in: Callable[..., Api]) -> Api:
    """Somebody who reads only what is their own."""
    created = api.post("/api/admin/roles", {"name": "Author", "permissions": AUTHOR})
    assert created.status_code == 201, created.text
    return sign_in("Author")


def test_a_role_of_ones_own_finds_its_own_articles_only(
    articles: dict[str, int], author: Api, index: Index
) -> None:
    assert search(author, "password")["total"] == 0
    key = make(author, "password")
    index()
    answer = search(author, "password")
    assert (answer["total"], ids(answer)) == (1, [key])


@pytest.mark.parametrize("mode", ["hybrid", "semantic", "keyword"])
@pytest.mark.parametrize("question", ["pasword page", "a secret password", "sla of the invoice"])
def test_articles_that_one_may_not_read_leave_no_trace_in_scores(
    api: Api, author: Api, index: Index, question: str, mode: str
) -> None:
    """Nor do they say how a slip or a short form is understood."""
    for name in ARTICLES:
        make(author, name)
    index()
    before = search(author, question, mode=mode)
    make(api, "password", title="Pasword page", body="A secret pasword, sla (secure login area).")
    make(api, "invoice")
    index()
    assert search(author, question, mode=mode) == before
    assert search(api, question, mode=mode)["total"] >= before["total"]


HOSTILE = [
    '"', "''", "NEAR(a b)", "-password", "title:password", "*", "password*", "(", ")",
    "AND OR NOT", "password\" OR 1=1 --", "'; DROP TABLE kb_articles; --", "%", "_", "\\",
    "\u0001\u0002", "\U0001f511" * 3, "\u202edrowssap", "пароль", "密码重置", "a" * 5000,
    "word " * 2000, "\U0001f468\u200d\U0001f469", "{}[]<>",
]  # fmt: skip


@pytest.mark.parametrize("question", HOSTILE)
@pytest.mark.parametrize("mode", ["hybrid", "semantic", "keyword"])
def test_no_question_is_an_error(
    api: Api, articles: dict[str, int], question: str, mode: str
) -> None:
    answer = search(api, question, mode=mode)
    assert answer["query"] == question.strip()
    assert all(0 <= item["score"] <= 1 for item in answer["items"])


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({}, "q"), ({"q": ""}, "q"), ({"q": " \t"}, "q"), ({"q": "x", "limit": "0"}, "limit"),
        ({"q": "x", "limit": "51"}, "limit"), ({"q": "x", "mode": "magic"}, "mode"),
        ({"q": "x", "language": "!"}, "language"), ({"q": "x", "colour": "red"}, "colour"),
    ],
)  # fmt: skip
def test_a_wrong_parameter_is_named(api: Api, query: dict[str, str], field: str) -> None:
    answer = api.get("/api/kb/search", query_string=query)
    assert (answer.status_code, answer.json["error"]["code"]) == (400, "VALIDATION_ERROR")
    assert [detail["field"] for detail in answer.json["error"]["details"]] == [field]


def test_without_the_model_search_goes_by_words_and_says_so(
    api: Api, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding, "PACKAGE", "no_such_package")
    embedding.load_model.cache_clear()
    try:
        key = make(api, "password")
        index()
        for mode in ("hybrid", "semantic"):
            answer = search(api, "resetting passwords", mode=mode)
            assert (answer["mode"], ids(answer)) == ("keyword", [key])
            assert "by words alone" in answer["notice"]
        ready = api.get("/readyz").json
        assert (ready["status"], ready["checks"]["search"]) == ("degraded", "by words only")
        monkeypatch.undo()
        embedding.load_model.cache_clear()
        index()  # the model is there: articles get their vectors without being touched
        assert search(api, "resetting passwords")["mode"] == "hybrid"
        assert ids(search(api, "login trouble", mode="semantic")) == [key]
    finally:
        embedding.load_model.cache_clear()

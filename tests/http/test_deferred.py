"""``Prefer: respond-async``: the answer is fetched later, once or often, by who asked alone."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from tests.contract.batches import multipart, post, request
from tests.contract.conftest import Api

LATER = {"Prefer": "respond-async"}


def place(api: Api, address: str = "/odata/Clients", **headers: str) -> str:
    answer = api.get(address, headers={**LATER, **headers})
    assert (answer.status_code, answer.data) == (202, b""), answer.text
    assert answer.headers["Preference-Applied"] == "respond-async"
    found: str = answer.headers["Location"]
    assert found.startswith("http://localhost/odata/$async/")
    return found.removeprefix("http://localhost")


def test_the_answer_is_fetched_later(admin: Api) -> None:
    admin.post("/odata/Clients", {"name": "ACME"})
    monitor = place(admin)
    for _ in range(2):
        answer = admin.get(monitor)
        assert answer.status_code == 200
        assert answer.json["value"][0]["name"] == "ACME"
        assert "AsyncResult" not in answer.headers
    assert admin.delete(monitor).status_code == 204
    assert admin.get(monitor).status_code == 404
    assert admin.delete(monitor).status_code == 404


def test_the_name_of_the_preference_has_no_case(admin: Api) -> None:
    answer = admin.get("/odata/Clients", headers={"Prefer": "Respond-Async"})
    assert (answer.status_code, answer.headers["Preference-Applied"]) == (202, "Respond-Async")


def test_the_status_of_the_answer_is_told(admin: Api) -> None:
    headers = {**LATER, "OData-MaxVersion": "4.01"}
    answer = admin.post("/odata/Clients", {"name": "ACME"}, headers=headers)
    assert answer.status_code == 202
    assert admin.get("/odata/Clients/$count").text == "1"
    monitor = answer.headers["Location"].removeprefix("http://localhost")
    final = admin.get(monitor)
    assert (final.status_code, final.headers["AsyncResult"]) == (200, "201")
    assert final.headers["Location"].endswith("/odata/Clients(1)")
    whole = admin.get(monitor, headers={"Accept": "application/http"})
    assert whole.mimetype == "application/http"
    assert whole.text.startswith("HTTP/1.1 201 Created\r\n")
    assert whole.text.endswith(final.text)


def test_refusals_are_direct(admin: Api) -> None:
    assert admin.get("/odata/Clients(1)", headers=LATER).status_code == 404
    assert admin.post("/odata/Clients", {"nmae": "x"}, headers=LATER).status_code == 400
    assert admin.get("/odata/$async/unknown").status_code == 404
    assert admin.post("/odata/$async/unknown", {}).status_code == 405


def test_only_who_asked_fetches_it(admin: Api, sign_in: Callable[..., Api]) -> None:
    monitor = place(admin)
    other = sign_in("Manager")
    assert other.get(monitor).status_code == 404
    assert other.delete(monitor).status_code == 404
    assert admin.get(monitor).status_code == 200


def test_an_answer_is_kept_for_a_while(admin: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.http.deferred.KEPT_FOR", timedelta(seconds=-1))
    assert admin.get(place(admin)).status_code == 410


def test_a_batch_is_answered_later_as_a_whole(admin: Api) -> None:
    part = request("GET", "Clients/$count", Prefer="respond-async")
    direct = post(admin, multipart(part))
    assert direct.status_code == 200 and "HTTP/1.1 200" in direct.text
    later = post(admin, multipart(part), LATER)
    assert later.status_code == 202
    final = admin.get(later.headers["Location"].removeprefix("http://localhost"))
    assert final.mimetype == "multipart/mixed" and "HTTP/1.1 200" in final.text


def test_the_metadata_says_so(admin: Api) -> None:
    schema = admin.get("/odata/$metadata?$format=json").json["BusinessPlatform"]
    term = "@Org.OData.Capabilities.V1.AsynchronousRequestsSupported"
    assert schema["Default"][term] is True


@pytest.mark.parametrize(
    ("headers", "kind", "result"),
    [
        ({}, "application/json", None),
        ({"OData-MaxVersion": "4.0"}, "application/http", None),
        ({"OData-MaxVersion": "4.0", "Accept": "application/json"}, "application/json", "200"),
        ({"OData-MaxVersion": "4.0", "Accept": "application/http"}, "application/http", None),
        ({"Accept": "application/json"}, "application/json", "200"),
        ({"Accept": "application/http"}, "application/http", None),
    ],
)
def test_the_form_of_the_answer_is_that_of_the_version(
    admin: Api, headers: dict[str, str], kind: str, result: str | None
) -> None:
    """Protocol 11.6: who says 4.0 and names no format gets the whole answer as HTTP."""
    answer = admin.get(place(admin), headers=headers)
    assert (answer.status_code, answer.mimetype) == (200, kind)
    assert answer.headers.get("AsyncResult") == result

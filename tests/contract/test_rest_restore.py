"""Deleted documents come back over HTTP, by administrators."""

from __future__ import annotations

from collections.abc import Callable

from tests.contract.conftest import Api
from tests.contract.test_rest_money import refusal


def deleted(admin: Api) -> int:
    key: int = admin.post("/odata/Documents", {"name": "contract.pdf"}).json["id"]
    assert admin.delete(f"/odata/Documents({key})").status_code == 204
    return key


def test_a_deleted_document_comes_back(admin: Api) -> None:
    key = deleted(admin)
    path = f"/api/documents/{key}/restore"
    tried = admin.post(f"{path}?dryRun=true")
    assert tried.status_code == 200, tried.text
    assert admin.get(f"/odata/Documents({key})").status_code == 404
    answer = admin.post(path)
    assert answer.json == {"id": key, "name": "contract.pdf", "status": "Pending"}
    assert admin.get(f"/odata/Documents({key})").json["status"] == "Pending"
    assert refusal(admin.post(path)) == (409, "INVALID_STATE")
    assert admin.post("/api/documents/999/restore").status_code == 404


def test_what_is_shown_cannot_be_restored(admin: Api) -> None:
    assert admin.post("/odata/Documents", {"name": "contract.pdf"}).status_code == 201
    for query in ("$select=BusinessPlatform.*", "$format=application/json;odata.metadata=full"):
        (document,) = admin.get(f"/odata/Documents?{query}").json["value"]
        assert document["#BusinessPlatform.Restore"] is None


def test_only_administrators_restore(admin: Api, sign_in: Callable[..., Api]) -> None:
    key = deleted(admin)
    for role in ("Manager", "Sales", "Accountant", "Support", "Viewer"):
        answer = sign_in(role).post(f"/api/documents/{key}/restore")
        assert answer.status_code == 403, role
        assert answer.json["error"]["details"][0]["message"] == "settings:update"

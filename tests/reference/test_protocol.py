"""Batches, changes since, cross joins and references on the reference model."""

from __future__ import annotations

from typing import Any

from tests.reference.conftest import Reference


def _batch(reference: Reference, *requests: dict[str, Any], **headers: str) -> list[Any]:
    answer = reference.send("POST", "/$batch", {"requests": list(requests)}, **headers)
    assert answer.status_code == 200, answer.text
    found: list[Any] = answer.json["responses"]
    return found


def _make(id_: str, body: Any, **more: Any) -> dict[str, Any]:
    return {
        "id": id_, "method": "POST", "url": "/Products", "body": body,
        "headers": {"Content-Type": "application/json"}, **more,
    }  # fmt: skip


def test_an_empty_batch_has_an_empty_answer(reference: Reference) -> None:
    assert _batch(reference) == []


def test_a_group_that_fails_leaves_nothing(reference: Reference) -> None:
    found = _batch(
        reference,
        _make("1", {"Name": "Pen", "Price": 1}, atomicityGroup="g"),
        _make("2", {"Price": 1}, atomicityGroup="g"),
    )
    assert all(answer["status"] >= 400 for answer in found)
    assert "Pen" not in reference.names("")


def test_what_depends_on_a_failure_is_not_done(reference: Reference) -> None:
    found = _batch(
        reference,
        {"id": "1", "method": "GET", "url": "/Products(00000000-0000-0000-0000-000000000000)"},
        {"id": "2", "method": "GET", "url": "/Products", "dependsOn": ["1"]},
        Prefer="continue-on-error",
    )
    assert [answer["status"] for answer in found] == [404, 424]


def test_changes_are_told_since_a_token(reference: Reference) -> None:
    answer = reference.send("GET", "/Products", Prefer="odata.track-changes")
    assert "odata.track-changes" in answer.headers["Preference-Applied"]
    link = answer.json["@odata.deltaLink"]
    assert "$deltatoken" in link
    key = reference.send("POST", "/Products", {"Name": "Pen", "Price": 1}).json["ID"]
    created = reference.send("GET", link)
    assert "Pen" in created.text
    reference.send("DELETE", f"/Products({key})")
    removed = reference.send("GET", created.json.get("@odata.deltaLink", link))
    assert "@odata.removed" in removed.text
    assert f'"ID":"{key}"' in removed.text or f"Products({key})" in removed.text


def test_sets_are_joined_crosswise(reference: Reference) -> None:
    query = "$filter=Products/CategoryID eq Categories/ID and Categories/Name eq 'Kitchen'"
    rows = reference.get(f"/$crossjoin(Products,Categories)?{query}&$expand=Products")["value"]
    assert [row["Products"]["Name"] for row in rows] == ["Coffee Mug"]


def test_entities_are_found_by_their_ids(reference: Reference) -> None:
    product = reference.product()
    assert reference.get(f"/$entity?$id={product[1:]}")["Name"] == "Laptop"
    reference_ = reference.get(f"{product}/Category/$ref")
    category = reference.get(f"/{reference_['@odata.id'].removeprefix('http://localhost/')}")
    assert category["Name"] == "Electronics"
    assert "Laptop" in reference.names("", f"{product}/Category/Products")

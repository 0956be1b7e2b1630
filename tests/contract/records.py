"""Records over OData, as the contract tests make, read and count them."""

from __future__ import annotations

from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from tests.contract.conftest import Api


def make(api: Api, path: str, **values: Any) -> int:
    """Create a record under ``/odata/path``; returns its key."""
    answer = api.post(f"/odata/{path}", values)
    assert answer.status_code == 201, answer.text
    key: int = answer.json["id"]
    return key


def read(api: Api, path: str) -> dict[str, Any]:
    """The body of what ``/odata/path`` answers."""
    answer = api.get(f"/odata/{path}")
    assert answer.status_code == 200, answer.text
    body: dict[str, Any] = answer.json
    return body


def address(answer: Any) -> str:
    """The path of what was made."""
    location: str = answer.headers["Location"]
    return location[location.index("/odata") :]


def fields(answer: Any) -> set[str]:
    """The fields that a refusal of the body names."""
    assert answer.status_code == 400, answer.text
    error = answer.json["error"]
    assert error["code"] == "VALIDATION_ERROR"
    for detail in error["details"]:
        assert set(detail) == {"code", "target", "field", "message"}
    return {detail["target"] for detail in error["details"]}


def count_rows(session: Session, model: Any) -> int:
    """The rows that are committed."""
    session.rollback()
    return session.scalar(select(func.count()).select_from(model)) or 0

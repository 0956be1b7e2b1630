"""Every example of docs/documents.md does what the page says."""

from __future__ import annotations

from flask import Flask

from app.documents.analysis import look_into_files
from tests.contract.pages import examples, is_part
from tests.documents.conftest import Files


def test_every_example_works(app: Flask, files: Files) -> None:
    page = examples("documents.md")
    assert len(page) > 10
    token = ""
    for example in page:
        is_public = example.url.startswith("/s/")
        if "/search" in example.url:
            with app.app_context():
                assert look_into_files() == 2  # what the worker does meanwhile
        answer = files.api.client.open(
            example.url.replace("TOKEN", token),
            method=example.method,
            headers={**({} if is_public else files.api.headers), **example.headers},
            data=example.body or None,
        )
        assert answer.status_code == example.status, f"{example}: {answer.text}"
        if isinstance(example.shown, str):
            assert answer.text.strip() == example.shown, example
        elif example.shown is not None:
            assert is_part(example.shown, answer.json), f"{example}: {answer.text}"
        if answer.is_json and answer.data:
            token = answer.json.get("token", token)

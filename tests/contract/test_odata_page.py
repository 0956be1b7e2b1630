"""Every example of docs/odata.md does what the page says."""

from __future__ import annotations

import json

from tests.contract.conftest import Api
from tests.contract.pages import examples, is_part


def test_every_example_works(admin: Api) -> None:
    page = examples("odata.md")
    assert len(page) > 15
    for example in page:
        answer = admin.client.open(
            example.url,
            method=example.method,
            headers={**admin.headers, **example.headers},
            data=example.body or None,
        )
        assert answer.status_code == example.status, f"{example}: {answer.text}"
        if isinstance(example.shown, str):
            assert answer.text == example.shown, example
        elif example.shown is not None:
            whole = json.loads(answer.text)
            assert is_part(example.shown, whole), f"{example}: {answer.text}"

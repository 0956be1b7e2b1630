"""Every example of docs/bi.md does what the page says."""

from __future__ import annotations

import json

from tests.contract.conftest import Api
from tests.contract.pages import examples, is_part


def test_every_example_works(admin: Api, business: None) -> None:
    page = examples("bi.md")
    assert len(page) >= 8
    for example in page:
        answer = admin.client.open(
            example.url,
            method=example.method,
            headers={**admin.headers, **example.headers},
            data=example.body or None,
        )
        assert answer.status_code == example.status, f"{example}: {answer.text}"
        if example.shown is not None:
            assert is_part(example.shown, json.loads(answer.text)), f"{example}: {answer.text}"

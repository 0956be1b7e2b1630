"""Every example of docs/crm.md does what the page says."""

from __future__ import annotations

import json

from tests.contract.conftest import Api
from tests.contract.pages import examples, is_part


def test_every_example_works(admin: Api) -> None:
    page = examples("crm.md")
    assert len(page) > 10
    for example in page:
        # The lines of a form end as the protocol says.
        is_form = "multipart" in example.headers.get("Content-Type", "")
        body = example.body.replace("\n", "\r\n") if is_form else example.body
        answer = admin.client.open(
            example.url,
            method=example.method,
            headers={**admin.headers, **example.headers},
            data=body.encode() or None,
        )
        assert answer.status_code == example.status, f"{example}: {answer.text}"
        if example.shown is not None:
            whole = json.loads(answer.text)
            assert is_part(example.shown, whole), f"{example}: {answer.text}"

"""Pages have the size that was asked for, else that of their kind, which an operator may set."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from flask import Flask

from app.http.page_sizes import PageSize
from app.odata.service import odata_service


@pytest.mark.parametrize(
    ("default", "wanted", "size"), [(4, None, 4), (4, 2, 2), (4, 9, 8), (9, None, 8)]
)
def test_a_page_is_as_wished_as_usual_or_the_largest(
    default: int, wanted: int | None, size: int
) -> None:
    assert PageSize(default, 8).of(wanted) == size


def test_an_operator_sets_the_page_of_odata(build_app: Callable[..., Flask]) -> None:
    app = build_app(ODATA_PAGE_SIZE=7)
    assert odata_service.of(app).reader.page_sizes == PageSize(7, 5000)

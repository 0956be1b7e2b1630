"""Records that follow one another, made to follow each other by two at once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from flask import Flask

from app.db.engines import transaction
from app.errors import ValidationError
from app.http.security import acting_as, system_caller
from tests.business import bind_services
from tests.factories import make_article, make_task, update


@pytest.mark.parametrize(
    ("name", "make", "attribute", "field"),
    [("Task", make_task, "parent_task_id", "parentTaskId"),
     ("KbArticle", make_article, "translation_of_id", "translationOfId")],
    ids=["parts", "translations"],
)  # fmt: skip
def test_two_that_are_made_to_follow_each_other_at_once_do_not(
    app: Flask, name: str, make: Callable[[], int], attribute: str, field: str
) -> None:
    bind_services(app)
    pairs = 8
    begin = threading.Barrier(2)
    with app.app_context(), acting_as(system_caller()), transaction():
        keys = [(make(), make()) for _ in range(pairs)]

    def follow(side: int) -> list[bool]:
        done = []
        for pair in keys:
            begin.wait()
            try:
                with app.app_context(), acting_as(system_caller()), transaction():
                    update(name, pair[side], **{attribute: pair[1 - side]})
                done.append(True)
            except ValidationError as refused:
                assert refused.details[0].field == field
                done.append(False)
        return done

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(follow, (0, 1))
    assert [left + other for left, other in zip(first, second, strict=True)] == [1] * pairs

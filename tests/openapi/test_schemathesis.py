"""Generated requests, right ones and wrong ones: the answers are those that the document describes.

A short form of ``python -m tests.openapi.scan``; the requests are the same in every run.
"""

from __future__ import annotations

import re
from typing import Any

import orjson
import pytest
import schemathesis
from flask import Flask
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.config import SchemathesisConfig
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import positive_data_acceptance

from app.container.model import container
from app.factory import AREAS
from app.openapi.routes import openapi
from tests.contract.conftest import Api
from tests.openapi import messages  # noqa: F401 - teaches schemathesis to write messages

pytestmark = pytest.mark.costly(8)

EXAMPLES = 1
# Whatever ends the session of the test; each of them has tests of its own.
LEFT_OUT = re.compile(r"/auth/(logout|password)$|/reset-password$")
# Most of the model is the same again along navigation: one set with it is enough.
NAVIGATION = re.compile(r"^/odata/(?!Invoices)\w+\(.*\)/")
# A text that fits its schema is rarely an expression, and a number rarely the key of a record.
NOT_CHECKED = [positive_data_acceptance]
REFUSALS = ("400", "401", "403", "404", "405", "406", "409", "412", "414", "415")
TAGS = (
    *(area.name for area in AREAS),
    "links",
    "invoice-pages",
    "OData",
    "Health",
    *container().sets,
)


@pytest.mark.requirement("SEC-190", "OPS-15")
@pytest.mark.only_on("sqlite")
@pytest.mark.parametrize("tag", TAGS)
def test_answers_are_as_described(app: Flask, admin: Api, tag: str) -> None:
    _try_operations(app, admin, tag)


@pytest.mark.costly(0)
@pytest.mark.only_on("postgresql")
def test_answers_of_the_other_database(app: Flask, admin: Api) -> None:
    _try_operations(app, admin, "Invoices")


def _try_operations(app: Flask, admin: Api, tag: str) -> None:
    document: dict[str, Any] = orjson.loads(openapi.of(app).text())
    schema = schemathesis.openapi.from_dict(document, config=_config())
    schema.app = app
    tried = 0
    for result in schema.get_all_operations():
        operation = result.ok()
        path = operation.path
        if tag not in operation.tags or LEFT_OUT.search(path) or NAVIGATION.search(path):
            continue
        tried += 1
        _try(operation, GenerationMode.POSITIVE, admin.headers)
        if operation.body:
            # Wrong addresses and options are few, and have tests of their own.
            _try(operation, GenerationMode.NEGATIVE, admin.headers)
    assert tried


def _config() -> SchemathesisConfig:
    config = SchemathesisConfig()
    project = config.projects.default
    project.generation.with_security_parameters = False  # the test signs in
    # OData leaves options without a $ to the application, so an unknown one is no mistake.
    project.generation.allow_extra_parameters = False
    # If-Match is looked at before the body (RFC 9110, 13.2.1).
    project.checks.negative_data_rejection.expected_statuses = [*REFUSALS]
    return config


def _try(operation: Any, mode: GenerationMode, headers: dict[str, str]) -> None:
    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.explicit, Phase.generate],
    )
    @given(operation.as_strategy(generation_mode=mode))
    def send(case: Any) -> None:
        answer = case.call(headers=headers)
        case.validate_response(answer, headers=headers, excluded_checks=NOT_CHECKED)

    send()

"""Every requirement is met, on both databases."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.checks import REQUIREMENTS
from tests.conformance.registry import failure
from tests.conformance.running import running_service
from tests.conformance.service import Service
from tests.migrated import MigratedDatabases


@pytest.fixture(scope="module")
def database(
    request: Any, tmp_path_factory: pytest.TempPathFactory, migrated: MigratedDatabases
) -> Iterator[str]:
    """The address of a database of the service alone."""
    folder: Path = tmp_path_factory.mktemp("conformance")
    with migrated.new(request.param, folder, f"conformance_{folder.name.replace('-', '_')}") as url:
        yield url


@pytest.fixture(scope="module")
def service(database: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with running_service(tmp_path_factory.mktemp("files"), database) as running:
        yield running


@pytest.mark.parametrize("number", list(REQUIREMENTS))
def test_requirement(service: Service, number: str) -> None:
    assert failure(REQUIREMENTS[number], service) is None

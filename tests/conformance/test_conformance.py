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

KINDS = ["sqlite", pytest.param("postgresql", marks=pytest.mark.needs("postgresql"))]


@pytest.fixture(scope="module", params=KINDS)
def service(
    request: Any, tmp_path_factory: pytest.TempPathFactory, migrated: MigratedDatabases
) -> Iterator[Service]:
    folder: Path = tmp_path_factory.mktemp("conformance")
    name = f"conformance_{folder.name.replace('-', '_')}"
    with (
        migrated.new(request.param, folder, name) as url,
        running_service(folder, url) as found,
    ):
        yield found


@pytest.mark.parametrize("number", list(REQUIREMENTS))
def test_requirement(service: Service, number: str) -> None:
    assert failure(REQUIREMENTS[number], service) is None

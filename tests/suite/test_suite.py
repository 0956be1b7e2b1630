"""Every expectation of the public suite is met, or argued in docs/conformance.md."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from tests.suite.expectations import EXPECTATIONS
from tests.suite.registry import argued
from tests.suite.service import reference_service


def test_expectations_are_met_or_argued(tmp_path: Path) -> None:
    with reference_service(f"sqlite:///{tmp_path / 'suite.db'}") as service:
        unmet = {one.name: problem for one in EXPECTATIONS if (problem := one.failure(service))}
    assert unmet.keys() == argued(), unmet


def test_each_expectation_has_a_name_of_its_own() -> None:
    assert [name for name, n in Counter(one.name for one in EXPECTATIONS).items() if n > 1] == []
    assert len(EXPECTATIONS) > 500

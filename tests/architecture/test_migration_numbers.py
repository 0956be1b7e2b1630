"""Migrations stand in one line: two that were written beside each other have not one number."""

from __future__ import annotations

import re

from tests.architecture.modules import ROOT


def test_each_migration_has_a_number_of_its_own_and_follows_the_one_before() -> None:
    numbers = []
    for path in sorted((ROOT / "migrations" / "versions").glob("*.py")):
        text = path.read_text(encoding="utf-8")
        said = dict(re.findall(r'^(revision|down_revision)\b[^=]*= "?(\w+)"?', text, re.MULTILINE))
        numbers.append((path.name[:4], said["revision"], said["down_revision"]))
    line = [f"{number:04}" for number in range(1, len(numbers) + 1)]
    assert numbers == list(zip(line, line, ["None", *line[:-1]], strict=True))

"""Print every requirement with the tests that prove it: ``python -m tests.requirements``."""

from __future__ import annotations

from tests.requirements.listed import REQUIREMENTS
from tests.requirements.marks import marked

found = marked()
for number, text in REQUIREMENTS.items():
    print(f"{number}  {text}")
    for name in found.get(number, ["NO TEST"]):
        print(f"    {name}")

"""Print under which licences the packages stand that the service is run with, fonts among them."""

from __future__ import annotations

import re
import sys
from importlib.metadata import PackageMetadata, distribution
from pathlib import Path

PINNED = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[a-z,]+\])?==(\S+)", re.MULTILINE)


def main(file: str) -> int:
    """One line a package: name, version, licence. Returns 1 where one says none."""
    unknown = 0
    for name, version in PINNED.findall(Path(file).read_text("utf-8")):
        licence = licence_of(distribution(name).metadata)
        unknown += not licence
        print(f"{name:24} {version:18} {licence or 'says none: look at its page'}")
    return 1 if unknown else 0


def licence_of(metadata: PackageMetadata) -> str:
    """What a package says of its licence: an expression, classifiers, a line or a file."""
    if expression := metadata.get("License-Expression"):
        return expression
    classifiers = [
        classifier.rsplit(" :: ", 1)[-1]
        for classifier in metadata.get_all("Classifier") or []
        if classifier.startswith("License :: ")
    ]
    if classifiers:
        return " or ".join(classifiers)
    if line := (metadata.get("License") or "").partition("\n")[0]:
        return line
    files = metadata.get_all("License-File") or []
    return f"in its file {files[0]}" if files else ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

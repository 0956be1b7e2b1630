"""Write the metadata of each model in each form, and damaged copies; say which ones are valid."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Callable, Iterator
from pathlib import Path

from app.container.model import container
from app.odata.csdl.document import Version, metadata
from app.odata.model import edm
from tests.odata.csdl.test_document import SHOP
from tests.reference.application import reference_container

HERE = Path(__file__).parent
PYTHON = HERE / ".venv" / "bin" / "python"
SCHEMAS = HERE / "node_modules" / "odata-csdl" / "schemas"
SECONDS = 300

MODELS: dict[str, Callable[[], edm.EntityContainer]] = {
    "business": container,
    "reference": reference_container,
    "bookshop": lambda: SHOP,
}
VERSIONS: tuple[Version, ...] = ("4.0", "4.01")
# What no schema may let pass: each is put into the first model once, to see that it is refused.
DAMAGE = {
    "xml": (
        ('<Property Name="', '<Property Nom="'),
        ('Type="Edm.Int64"', 'Type="Int 64"'),
        ("</Key>", "</Key><Key></Key>"),
        ('Version="4.01"', 'Version="4.5"'),
        ("<edmx:DataServices>", "<edmx:DataServices><Schema/>"),
    ),
    "json": (
        ('"$Kind":"EntityType"', '"$Kind":"Entity"'),
        ('"$Type":"Edm.Int64"', '"$Type":64'),
        ('"$Version":"4.01"', '"$Version":"5"'),
        ('"$Key":["id"]', '"$Key":"id"'),
        ('"$Collection":true', '"$Collection":"yes"'),
    ),
}


def main() -> int:
    problem = _install()
    if problem:
        print(problem, file=sys.stderr)
        return 1
    failed = False
    with tempfile.TemporaryDirectory() as name:
        documents = [*_valid(Path(name)), *_damaged(Path(name))]
        done = subprocess.run(
            [str(PYTHON), str(HERE / "check.py"), str(SCHEMAS), *map(str, documents)],
            check=True, capture_output=True, text=True, timeout=SECONDS,
        )  # fmt: skip
    lines = done.stdout.splitlines()
    for line in lines:
        document, count, first = line.split("\t")
        as_it_should = (count != "0") == document.startswith("damaged")
        failed = failed or not as_it_should
        outcome = "valid" if count == "0" else f"{count} problems, the first at {first[:160]}"
        print(f"{'pass' if as_it_should else 'FAIL'} {document:24} {outcome}")
    return int(failed or len(lines) != len(documents))


def _valid(folder: Path) -> Iterator[Path]:
    for model, make in MODELS.items():
        for version in VERSIONS:
            for form in ("xml", "json"):
                path = folder / f"{model}-{version}.{form}"
                path.write_bytes(metadata(make(), version, as_json=form == "json").body)
                yield path


def _damaged(folder: Path) -> Iterator[Path]:
    for form, changes in DAMAGE.items():
        text = metadata(container(), "4.01", as_json=form == "json").body.decode()
        for number, (good, bad) in enumerate(changes, 1):
            if good not in text:
                raise LookupError(f"{good} is not in the {form} of the metadata")
            path = folder / f"damaged-{number}.{form}"
            path.write_text(text.replace(good, bad, 1), encoding="utf-8")
            yield path


def _install() -> str:
    """Install what is missing; says why it could not be done."""
    if shutil.which("npm") is None:
        return "npm is not installed"
    steps = []
    if not SCHEMAS.exists():
        steps.append(["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"])
    # The package is there only when pip came to its end.
    if not list(HERE.glob(".venv/lib/python*/site-packages/xmlschema")):
        venv.create(HERE / ".venv", with_pip=True)
        steps.append([str(PYTHON), "-m", "pip", "install", "--quiet", "--require-hashes",
                      "--requirement", str(HERE / "requirements.txt")])  # fmt: skip
    for step in steps:
        done = subprocess.run(
            step, cwd=HERE, check=False, capture_output=True, text=True, timeout=SECONDS
        )
        if done.returncode:
            return f"{' '.join(step[:4])} failed: {done.stderr.strip()[-500:]}"
    return ""


if __name__ == "__main__":
    sys.exit(main())

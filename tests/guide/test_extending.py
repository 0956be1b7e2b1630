"""A copy of the tree, to which the changes of docs/extending.md are made, does what they say."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.modules import ROOT
from tests.measured import VARIABLE

MOST_FILES = 3
_CHANGE = re.compile(r"^## (.+?)\n.*?^```diff\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_TARGET = re.compile(r"^\+\+\+ b/(\S+)", re.MULTILINE)
CHANGES = dict(
    _CHANGE.findall((ROOT / "docs" / "extending.md").read_text(encoding="utf-8"))
)  # title -> diff


def git(*arguments: str, folder: Path, text: str | None = None) -> str:
    ran = subprocess.run(
        ["git", *arguments], cwd=folder, input=text, capture_output=True, text=True, check=False,
        env={**os.environ, "GIT_CEILING_DIRECTORIES": str(folder.parent)},
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of the tree in which every change was made, in the order of the page."""
    folder = tmp_path / "tree"
    listed = git("ls-files", "-z", "--cached", "--others", "--exclude-standard", folder=ROOT)
    for name in listed.rstrip("\0").split("\0"):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, folder / name)
    for change in CHANGES.values():
        git("apply", "-", folder=folder, text=renumbered(change))
    return folder


def renumbered(change: str) -> str:
    """The migration of a change (``NNNN``) follows the last that there is now (``LAST``)."""
    last = max(int(path.name[:4]) for path in (ROOT / "migrations" / "versions").glob("[0-9]*.py"))
    return change.replace("NNNN", f"{last + 1:04}").replace("LAST", f"{last:04}")


def test_the_page_shows_eight_changes() -> None:
    assert len(CHANGES) == 8


@pytest.mark.parametrize("title", CHANGES)
def test_a_change_touches_few_files(title: str) -> None:
    touched = {name for name in _TARGET.findall(CHANGES[title]) if name.startswith("app/")}
    assert 1 <= len(touched) <= MOST_FILES, touched


def test_every_change_applies(tree: Path) -> None:
    for name in _TARGET.findall("".join(map(renumbered, CHANGES.values()))):
        assert (tree / name).is_file(), name


@pytest.mark.costly(0)
def test_the_changed_product_does_what_the_page_says(tree: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != VARIABLE}
    ran = subprocess.run(
        [
            sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider",
            "tests/guide/extended.py", "tests/architecture/test_docs.py",
            "tests/invoices/test_texts.py",
            "tests/test_migrations.py::test_models_and_migrations_make_the_same_schema",
            "-k", "not postgresql",
        ],
        cwd=tree, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert " passed" in ran.stdout

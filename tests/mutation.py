"""Mutation testing of what must not be wrong: ``python -m tests.mutation [folder]``.

The permission function, the amounts of invoices and the parser of queries are changed a little in a
copy of the sources, one change at a time (mutmut); the tests of each must notice. What survives is
printed, and told apart in docs/mutation.md.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
# What is changed, and the tests that must notice; each part is a run of its own.
PARTS = {
    "permissions": (("app/permissions.py",), ("tests/test_permissions.py",)),
    "money": (
        ("app/invoices/totals.py", "app/invoices/settlement.py"),
        ("tests/invoices/test_totals.py", "tests/invoices/test_settlement.py"),
    ),
    "parser": (
        ("app/odata/parser.py", "app/odata/parser_calls.py", "app/odata/parser_paths.py"),
        (
            "tests/odata/test_parser.py", "tests/odata/test_option_parser.py",
            "tests/odata/test_printer.py",
        ),
    ),
}  # fmt: skip
COPIED = ("app", "bench", "migrations", "tests", "docs", "wsgi.py", "gunicorn.conf.py")
SECONDS = 1500


def main(wanted: list[str]) -> int:
    """Run the parts named, or all; the status is that of the last that could not run."""
    status = 0
    for name in wanted or PARTS:
        sources, tests = PARTS[name]
        with tempfile.TemporaryDirectory(prefix="mutation-") as folder:
            print(f"{name}: {', '.join(sources)}", flush=True)
            status = run(Path(folder), sources, tests) or status
    return status


def run(folder: Path, sources: tuple[str, ...], tests: tuple[str, ...]) -> int:
    """Mutate ``sources`` in a copy, print the totals and the survivors."""
    for name in COPIED:
        source = ROOT / name
        copy = shutil.copytree if source.is_dir() else shutil.copy2
        copy(source, folder / name)
    lines = {
        "source_paths": "app",
        "only_mutate": "\n    ".join(("", *sources)),
        "also_copy": "\n    ".join(("", *COPIED[1:])),
        "pytest_add_cli_args": "\n    -p\n    no:cacheprovider\n    -p\n    tests.unshrunk",
        "pytest_add_cli_args_test_selection": "\n    ".join(("", *tests)),
        "use_git_change_detection": "false",
    }
    setup = (ROOT / "setup.cfg").read_text("utf-8") + "\n[mutmut]\n"
    setup += "".join(f"{name} = {value}\n" for name, value in lines.items())
    (folder / "setup.cfg").write_text(setup, "utf-8")
    mutmut = [sys.executable, "-m", "mutmut"]
    ran = subprocess.run(
        [*mutmut, "run"], cwd=folder, timeout=SECONDS, capture_output=True, text=True, check=False
    )
    print(ran.stdout.rstrip().rpartition("\n")[2].rpartition("\r")[2])
    if ran.returncode:
        print(ran.stderr[-2000:], file=sys.stderr)
    for line in subprocess.run(
        [*mutmut, "results"], cwd=folder, capture_output=True, text=True, check=False
    ).stdout.splitlines():
        mutant = line.strip().partition(":")[0]
        if not mutant or "survived" not in line:
            continue
        shown = subprocess.run(
            [*mutmut, "show", mutant], cwd=folder, capture_output=True, text=True, check=False
        ).stdout
        changed = [
            one for one in shown.splitlines() if one[:1] in "+-" and one[:3] not in ("+++", "---")
        ]
        print(f"survived {mutant}", *changed, sep="\n    ", flush=True)
    return ran.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

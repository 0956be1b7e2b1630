"""Mutation testing of what must not be wrong: ``python -m tests.mutation [folder]``.

The permission function, the amounts of invoices and the parser of queries are changed a little in a
copy of the sources, one change at a time (mutmut); the tests of each must notice. What survives is
printed, and told apart in docs/mutation.md.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
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
            "tests/odata/test_places.py", "tests/odata/test_printer.py",
        ),
    ),
}  # fmt: skip
COPIED = ("app", "bench", "migrations", "tests", "docs", "wsgi.py", "gunicorn.conf.py")
SECONDS = 3600


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
        # Collecting garbage once more at the end takes longer than the tests.
        "pytest_add_cli_args": "\n    ".join(
            ("", "-p", "no:cacheprovider", "-p", "no:unraisableexception", "-p", "tests.unshrunk")
        ),
        "pytest_add_cli_args_test_selection": "\n    ".join(("", *tests)),
        "use_git_change_detection": "false",
        # A change that loops is given up soon: a run of all tests takes seconds.
        "timeout_multiplier": "2",
    }
    setup = (ROOT / "setup.cfg").read_text("utf-8") + "\n[mutmut]\n"
    setup += "".join(f"{name} = {value}\n" for name, value in lines.items())
    (folder / "setup.cfg").write_text(setup, "utf-8")
    mutmut = [sys.executable, "-m", "mutmut"]
    status = try_all([*mutmut, "run"], folder)
    listed = subprocess.run(
        [*mutmut, "results", "--all", "true"],
        cwd=folder, capture_output=True, text=True, check=False,
    ).stdout.splitlines()  # fmt: skip
    found = dict(line.strip().split(": ", 1) for line in listed if ": " in line)
    counts = Counter(found.values()).most_common()
    print(f"{len(found)} changes: " + ", ".join(f"{count} {word}" for word, count in counts))
    for mutant, word in found.items():
        if word != "survived":
            continue
        shown = subprocess.run(
            [*mutmut, "show", mutant], cwd=folder, capture_output=True, text=True, check=False
        ).stdout
        changed = [
            one for one in shown.splitlines() if one[:1] in "+-" and one[:3] not in ("+++", "---")
        ]
        print(f"survived {mutant}", *changed, sep="\n    ", flush=True)
    return status


def try_all(command: list[str], folder: Path) -> int:
    """Let the tool try every change for as long as it is given; what it found until then stays."""
    with (folder / "log").open("w+", encoding="utf-8") as log:
        process = subprocess.Popen(
            command, cwd=folder, stdout=log, stderr=log, start_new_session=True
        )
        try:
            status = process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # with those that it started
            process.wait()
            print(f"ended after {SECONDS} s")
            return 1
        if status:
            log.seek(0)
            print(log.read()[-2000:], file=sys.stderr)
        return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

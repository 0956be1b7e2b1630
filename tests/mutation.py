"""Mutation testing of what must not be wrong: ``python -m tests.mutation [part ...]``.

The permission function, the amounts of invoices and the parser of queries are changed a little in a
copy of the sources, one change at a time (mutmut); the tests of each must notice. What survives is
printed, and told apart in docs/mutation.md. With ``--keep`` the copy and what was found stay in a
folder: the same command goes on with the changes that were not tried, in the sources of then.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import nullcontext
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
        ("app/odata/syntax/parser.py",),
        (
            "tests/odata/syntax/test_parser.py", "tests/odata/syntax/test_places.py",
            "tests/odata/syntax/test_printer.py",
        ),
    ),
}  # fmt: skip
COPIED = ("app", "bench", "migrations", "tests", "docs", "wsgi.py", "gunicorn.conf.py")
SECONDS = 3600
SECONDS_TO_END = 30


def main() -> int:
    """Run the parts named, or all; the status is that of the last that could not run."""
    options = _options()
    status = 0
    for name in options.parts or PARTS:
        sources, tests = PARTS[name]
        if options.only:
            sources = tuple(one for one in sources if Path(one).stem in options.only)
            name = "-".join((name, *(Path(one).stem for one in sources)))
        with _folder_of(name, options.keep) as folder:
            print(f"{name}: {', '.join(sources)}", flush=True)
            status = run(Path(folder), sources, tests, options) or status
    return status


def _options() -> argparse.Namespace:
    modules = sorted({Path(source).stem for sources, _ in PARTS.values() for source in sources})
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("parts", nargs="*", help=f"{', '.join(PARTS)}; all when left out")
    parser.add_argument("--only", action="append", choices=modules, help="a module of the part")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="go on with what is there")
    parser.add_argument("--seconds", type=int, default=SECONDS, help="given to each part")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    unknown = [name for name in options.parts if name not in PARTS]
    if unknown:
        parser.error(f"no such part: {', '.join(unknown)}")
    return options


def _folder_of(name: str, keep: Path | None) -> nullcontext[str] | tempfile.TemporaryDirectory[str]:
    """Where the copy of a part is: a folder that is removed afterwards, or one that is kept."""
    if keep is None:
        return tempfile.TemporaryDirectory(prefix="mutation-")
    folder = keep.resolve() / name
    folder.mkdir(parents=True, exist_ok=True)
    return nullcontext(str(folder))


def run(
    folder: Path, sources: tuple[str, ...], tests: tuple[str, ...], options: argparse.Namespace
) -> int:
    """Mutate ``sources`` in a copy, print the totals and the survivors."""
    if not (folder / "setup.cfg").exists():
        make_copy(folder)
    (folder / "setup.cfg").write_text(settings(sources, tests), "utf-8")
    mutmut = [sys.executable, "-m", "mutmut"]
    command = [*mutmut, "run", "--max-children", str(options.processes)]
    status = try_all(command, folder, options.seconds)
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


def make_copy(folder: Path) -> None:
    """Copy what the changes are made in, and what its tests need."""
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, dirs_exist_ok=True)
        else:
            shutil.copy2(source, folder / name)


def settings(sources: tuple[str, ...], tests: tuple[str, ...]) -> str:
    """setup.cfg with what the tool is told: what to change, and which tests are to notice."""
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
        # A change that loops is given up soon, one that a busy machine delays is not.
        "timeout_multiplier": "2",
        "timeout_constant": "10",
    }
    setup = (ROOT / "setup.cfg").read_text("utf-8") + "\n[mutmut]\n"
    return setup + "".join(f"{name} = {value}\n" for name, value in lines.items())


def try_all(command: list[str], folder: Path, seconds: int) -> int:
    """Let the tool try every change for as long as it is given; what it found until then stays."""
    with (folder / "log").open("w+", encoding="utf-8") as log:
        process = subprocess.Popen(
            command, cwd=folder, stdout=log, stderr=log, start_new_session=True
        )
        try:
            status = process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)  # between two results: they are in a file
            try:
                process.wait(SECONDS_TO_END)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)  # with those that it started
                process.wait()
            print(f"ended after {seconds} s")
            return 1
        if status:
            log.seek(0)
            print(log.read()[-2000:], file=sys.stderr)
        return status


if __name__ == "__main__":
    sys.exit(main())

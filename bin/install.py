"""Install a list of pinned requirements with the Python that runs this, and show how far it is."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import deque
from pathlib import Path

REQUIREMENT = re.compile(r"^[A-Za-z0-9._-]+(\[[a-z,]+\])?==", re.MULTILINE)
# Bytecode is made when a module is first imported: most of what comes never is.
COMMAND = ("-m", "pip", "--disable-pip-version-check", "install", "--require-hashes",
           "--no-compile", "--progress-bar", "off", "-r")  # fmt: skip
LINES_KEPT = 15


def main(file: str) -> int:
    """Returns pip's exit status; its last lines are shown when it fails."""
    total = count_requirements(Path(file))
    last: deque[str] = deque(maxlen=LINES_KEPT)
    pip = subprocess.Popen(
        [sys.executable, *COMMAND, file],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    done = 0
    for line in pip.stdout or ():
        last.append(line)
        if line.startswith(("Collecting", "Requirement already satisfied")):
            done += 1
            show(f"Fetching packages: {min(done, total)} of {total}")
        elif line.startswith("Installing collected"):
            show("Installing packages ...")
    status = pip.wait()
    print(file=sys.stderr)
    if status:
        print("".join(last), end="", file=sys.stderr)
        print("The packages could not be installed: see above.", file=sys.stderr)
    return status


def count_requirements(file: Path) -> int:
    """How many packages ``file`` pins, those of the files it includes among them."""
    text = file.read_text("utf-8")
    included = re.findall(r"^-r (\S+)", text, re.MULTILINE)
    return len(REQUIREMENT.findall(text)) + sum(
        count_requirements(file.parent / name) for name in included
    )


def show(text: str) -> None:
    """Rewrite the line on a terminal; elsewhere a line of its own would be noise."""
    if sys.stderr.isatty():
        print(f"\r{text:<40}", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

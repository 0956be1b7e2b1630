"""``python -m tests.reference``: serve the reference model, on a new database in memory's stead.

PORT (8000) says where; DATABASE_URL takes another database than a file that goes away.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from werkzeug.serving import run_simple

from tests.reference.application import create_app


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        url = os.environ.get("DATABASE_URL") or f"sqlite:///{Path(folder) / 'reference.db'}"
        port = int(os.environ.get("PORT", "8000"))
        run_simple("127.0.0.1", port, create_app(url), threaded=True)


if __name__ == "__main__":
    main()

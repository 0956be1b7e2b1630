"""What a web process weighs at its start: heavy libraries are loaded by whoever needs them."""

from __future__ import annotations

import subprocess
import sys

# What few requests need, and what would double the memory of every process.
HEAVY = {
    "alembic", "facturx", "flask_migrate", "huey", "onnxruntime",
    "redis", "reportlab", "snowballstemmer", "uharfbuzz", "vl_convert", "xlsxwriter", "zxcvbn",
}  # fmt: skip
# Parts that no request needs at all, or only some.
UNUSED = {"app.bi.questions", "sqlalchemy.dialects.postgresql"}


def test_a_web_process_starts_without_the_heavy_libraries() -> None:
    program = "import sys, app.factory; print(*sys.modules)"
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    loaded = set(answer.stdout.split())
    assert "flask" in loaded, answer.stderr
    assert loaded & (HEAVY | UNUSED) == set()

"""Heavy libraries are loaded when first used, and never before."""

from __future__ import annotations

import subprocess
import sys

import pytest

from app.lazy import lazy

# What few requests need, and what would double the memory of every process.
HEAVY = {
    "alembic", "facturx", "flask_migrate", "huey", "numpy", "onnxruntime",
    "redis", "reportlab", "uharfbuzz", "vl_convert", "xlsxwriter", "zxcvbn",
}  # fmt: skip
# Parts that no request needs at all, or only some.
UNUSED = {"app.bi.nlq.understanding", "sqlalchemy.dialects.postgresql"}


def test_a_module_is_imported_when_an_attribute_is_asked_for() -> None:
    program = (
        "import sys; from app.lazy import lazy; mail = lazy('colorsys');"
        "before = 'colorsys' in sys.modules; mail.rgb_to_hls;"
        "print(before, 'colorsys' in sys.modules)"
    )
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert answer.stdout.split() == ["False", "True"], answer.stderr


def test_a_module_that_does_not_exist_is_an_error_at_its_first_use() -> None:
    nothing = lazy("no_such_library")
    with pytest.raises(ImportError):
        _ = nothing.anything


def test_inspecting_loads_nothing() -> None:
    assert not hasattr(lazy("no_such_library"), "__path__")


def test_a_web_process_starts_without_the_heavy_libraries() -> None:
    program = "import sys, app.factory; print(*sys.modules)"
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    loaded = set(answer.stdout.split())
    assert "flask" in loaded, answer.stderr
    assert loaded & (HEAVY | UNUSED) == set()

"""Data that stands beside the code that reads it."""

from __future__ import annotations

from pathlib import Path

from app.localisation.data_files import data_beside


def test_a_file_beside_a_module_or_in_a_folder_beside_it_is_read(tmp_path: Path) -> None:
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "words.toml").write_text('[more]\nword = "ä"\n', encoding="utf-8")
    assert data_beside(str(tmp_path / "module.py"), "texts/words.toml") == {"more": {"word": "ä"}}

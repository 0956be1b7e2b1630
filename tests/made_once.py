"""What many tests begin with: made once by all processes of a run, or once by each of them."""

from __future__ import annotations

import fcntl
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from app.search.embedding import EmbeddingModel


def make_once(folder: Path, name: str, make: Callable[[], object]) -> None:
    """Call ``make`` in the process of the run that is here first; the others wait for it.

    Args:
        folder: the same for all processes of the run.
    """
    is_made = folder / f"{name} is made"
    with (folder / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not is_made.exists():
            make()
            is_made.touch()


def embed_once() -> None:
    """From now on a text is embedded once: many tests index the same few articles."""
    embed = EmbeddingModel.embed
    vectors: dict[str, Any] = {}

    def from_kept(
        model: EmbeddingModel,
        texts: Sequence[str],
        before_each: Callable[[], object] | None = None,
    ) -> Any:
        import numpy

        rows = []
        for text in texts:
            if before_each is not None:
                before_each()
            if text not in vectors:
                vectors[text] = embed(model, [text])
            rows.append(vectors[text])
        return numpy.concatenate(rows) if rows else embed(model, [])

    EmbeddingModel.embed = from_kept  # type: ignore[method-assign]

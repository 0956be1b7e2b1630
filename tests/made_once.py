"""The same few articles are taken into the index for many tests: a process embeds a text once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from app.search.embedding import EmbeddingModel


def embed_once() -> None:
    """For the whole run."""
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

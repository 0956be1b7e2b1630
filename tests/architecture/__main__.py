"""What the tree of modules looks like: ``python -m tests.architecture``."""

from __future__ import annotations

from tests.architecture.graph import circles, floors, graph, private_names, upward
from tests.architecture.mirror import without_tests


def main() -> None:
    """Print it."""
    round_about, private = circles(), sorted(private_names())
    print(f"modules: {len(graph())}")
    if not round_about:
        print(f"floors: {floors()}")
    for title, found in (
        ("circles", [" ".join(modules) for modules in round_about]),
        ("upward imports in app/odata", upward()),
        ("private names of libraries", private),
        ("modules without a test module", without_tests()),
    ):
        print(f"{title}: {len(found)}")
        for line in found:
            print(f"  {line}")


if __name__ == "__main__":
    main()

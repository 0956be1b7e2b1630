"""What the tree of modules looks like: ``python -m tests.architecture``."""

from __future__ import annotations

from collections import Counter

from tests.architecture.graph import circles, floors, graph, private_names, upward
from tests.architecture.mirror import without_tests
from tests.architecture.modules import APP
from tests.architecture.names import empty_names, private_names_in_tests


def main() -> None:
    """Print it."""
    round_about, private = circles(), sorted(private_names())
    print(f"modules: {len(graph())}")
    if not round_about:
        print(f"floors: {floors()}")
    for title, findings in (
        ("circles", [" ".join(modules) for modules in round_about]),
        ("upward imports in app/odata", upward()),
        ("private names of libraries", private),
        ("private names in tests", list(private_names_in_tests())),
        ("modules that tests of their room reach by requests alone", sorted(without_tests())),
    ):
        print(f"{title}: {len(findings)}")
        for line in findings:
            print(f"  {line}")
    words = Counter(word for _, word in empty_names())
    print("names that say nothing:", ", ".join(f"{word} {words[word]}" for word in sorted(words)))
    print_rooms()


def print_rooms() -> None:
    """The rooms of ``app/`` with their files and lines, the largest first."""
    files, lines = Counter[str](), Counter[str]()
    for path in APP.rglob("*.py"):
        room = path.relative_to(APP).parts[0] if path.parent != APP else "(root)"
        files[room] += 1
        lines[room] += len(path.read_text(encoding="utf-8").splitlines())
    print(f"rooms: {len(files)}")
    for room, count in lines.most_common():
        print(f"  {room:12} {files[room]:4} files {count:7,} lines")
    print(f"  {'sum':12} {files.total():4} files {lines.total():7,} lines")


if __name__ == "__main__":
    main()

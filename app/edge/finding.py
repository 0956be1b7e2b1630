"""Finding the view of a request: at once where a rule takes all that follows a prefix.

Werkzeug goes through the path part by part, each time for the same rule, which for a point read
costs as much as the limit and the permission together.
"""

from __future__ import annotations

from werkzeug.routing import Map, Rule

_TAIL = "<path:resource>"

# prefix, its rule, what follows it in longer prefixes, which is redirected there; the longest first
Tails = tuple[tuple[str, Rule, frozenset[str]], ...]


def find(tails: Tails, path: str, method: str) -> tuple[Rule, dict[str, str]] | None:
    """The rule of the longest prefix of ``path`` and what follows it.

    Returns: None where Werkzeug is to be asked, which may redirect or refuse.
    """
    for prefix, rule, longer in tails:
        if path.startswith(prefix):
            tail = path[len(prefix) :]
            # Two slashes are joined by a redirection, and a tail is one line (its converter).
            if (
                tail
                and tail not in longer
                and "//" not in path
                and path.isprintable()
                and method in (rule.methods or ())
            ):
                return rule, {"resource": tail}
            return None
    return None


def tails_of(url_map: Map) -> Tails:
    """The rules ``/prefix/<path:resource>`` below whose prefix there are no others."""
    rules = list(url_map.iter_rules())
    found = {
        rule.rule.removesuffix(_TAIL): rule
        for rule in rules
        if rule.rule.endswith(_TAIL) and rule.rule.count("<") == 1
    }
    others = [
        rule.rule for rule in rules if rule.rule not in found and not rule.rule.endswith(_TAIL)
    ]
    alone = [
        (
            prefix,
            rule,
            frozenset(other[len(prefix) : -1] for other in found if other.startswith(prefix)),
        )
        for prefix, rule in found.items()
        if not any(other.startswith(prefix) for other in others)
    ]
    return tuple(sorted(alone, key=lambda pair: len(pair[0]), reverse=True))

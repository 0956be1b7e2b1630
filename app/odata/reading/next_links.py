"""Links that go on with a query: its text as it came, with a token in place of an earlier one."""

from __future__ import annotations


def without_tokens(query: str, *names: str) -> str:
    """A query string without the options of these names, such as ``skiptoken``."""
    return "&".join(pair for pair in query.split("&") if pair and _option(pair) not in names)


def _option(pair: str) -> str:
    """The name of a system query option, in whatever way it is written."""
    return pair.partition("=")[0].replace("%24", "$").lower().removeprefix("$")


def next_link(root: str, path: str, query: str, token: str, name: str = "skiptoken") -> str:
    """The address that goes on from a token.

    Args:
        root: the address of the service, with a slash at its end.
        query: without an earlier token, percent-encoded.
    """
    prefix = f"{query}&" if query else ""
    return f"{root}{path.lstrip('/')}?{prefix}${name}={token}"

"""The forms of an answer that a client can ask for: how much control information, how spelled."""

from __future__ import annotations

from typing import Literal, NamedTuple

Metadata = Literal["none", "minimal", "full"]
Version = Literal["4.0", "4.01"]


class Format(NamedTuple):
    """JSON as the client wants it (JSON Format 3).

    ``ieee754``: Int64 and Decimal as strings. ``omit_nulls``: properties that are null are left
    out (``Prefer: omit-values=nulls``). ``mixed``: entities of several sets stand side by side, so
    each tells its type and its id. ``currencies``: each amount has its currency as an annotation
    (``Prefer: include-annotations``).
    """

    metadata: Metadata = "minimal"
    version: Version = "4.0"
    ieee754: bool = False
    omit_nulls: bool = False
    mixed: bool = False
    currencies: bool = False

    def control(self, name: str, property_: str = "") -> str:
        """The name of a piece of control information, ``@odata.count`` or ``@count``."""
        prefix = "@odata." if self.version == "4.0" else "@"
        return f"{property_}{prefix}{name}"

    @property
    def content_type(self) -> str:
        """The media type of the answer, with the parameters that were honoured."""
        prefix = "odata." if self.version == "4.0" else ""
        ieee754 = ";IEEE754Compatible=true" if self.ieee754 else ""
        return f"application/json;{prefix}metadata={self.metadata}{ieee754}"


# An entity without any control information: what events and the assistant carry.
BARE = Format(metadata="none", version="4.01")

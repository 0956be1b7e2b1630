"""Which format and version an answer has: ``Accept``, ``$format``, ``OData-MaxVersion``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Literal, NamedTuple

from werkzeug.datastructures import Headers
from werkzeug.http import parse_options_header

from app.errors import InvalidQueryError, NotAcceptableError

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


_VERSIONS = ("4.0", "4.01")
# What an answer depends on besides its address (Protocol 8.3.8).
VARY = "Accept, OData-MaxVersion, Prefer"
_METADATA = ("none", "minimal", "full")
# Parameters of application/json that are understood; the last ones change nothing here.
_PARAMETERS = frozenset(
    ("metadata", "ieee754compatible", "streaming", "charset", "exponentialdecimals", "q")
)


def form_for(
    headers: Headers | Mapping[str, str], format_option: str | None = None, *, accept: bool = True
) -> Format:
    """The form of the answer to a request with these headers and this ``$format``.

    Args:
        accept: whether the header counts that says what is welcome.
    Raises: NotAcceptableError, none of the formats asked for is offered; InvalidQueryError, a
        version that there is not.
    """
    return _negotiated(
        headers.get("Accept") if accept else None,
        format_option,
        headers.get("OData-MaxVersion"),
        headers.get("OData-Version"),
    )


@lru_cache(maxsize=256)
def _negotiated(
    accept: str | None, format_option: str | None, max_version: str | None, version: str | None
) -> Format:
    spoken = version_spoken(max_version, version)
    media_ranges = (accept or "") if format_option is None else _long_form(format_option)
    if not media_ranges and format_option is None:
        return Format(version=spoken)
    candidates = [
        (quality, -index, parameters)
        for index, media_range in enumerate(media_ranges.split(","))
        for quality, parameters in [_acceptable(media_range)]
        if parameters is not None and quality > 0
    ]
    if not candidates:
        raise refusal(media_ranges, "application/json")
    _, _, chosen = max(candidates, key=lambda candidate: candidate[:2])
    return Format(
        metadata=chosen.get("metadata", "minimal"),  # type: ignore[arg-type]  # checked
        version=spoken,
        ieee754=chosen.get("ieee754compatible") == "true",
    )


def refusal(wanted: str, offered: str) -> NotAcceptableError:
    """The error that an answer, which would be of type ``offered``, is none that is asked for."""
    return NotAcceptableError(
        f"The requested format is not offered: {wanted[:100]!r}; ask for {offered}."
    )


def takes(wanted: str, media_type: str) -> bool:
    """Whether ``Accept``, or ``$format``, takes an answer of a type that is not JSON.

    Of the ranges that a type fits the most specific one counts (RFC 9110, 12.5.1). Whatever it is,
    it is also ``application/octet-stream``.
    """
    name = media_type.partition(";")[0].strip().lower()
    ranges = [_range(part) for part in wanted.lower().split(",")]
    for media_range in (name, "application/octet-stream", f"{name.partition('/')[0]}/*", "*/*"):
        qualities = [quality for named_range, quality in ranges if named_range == media_range]
        if qualities:
            return max(qualities) > 0
    return False


def _range(text: str) -> tuple[str, float]:
    """A media range and its quality; 0 for one that cannot be read, or of other characters."""
    name, parameters = parse_options_header(text.strip())
    if name.startswith("text/") and parameters.get("charset", "utf-8") not in ("utf-8", "utf8"):
        return name, 0
    return name, _quality(parameters)


def _quality(parameters: Mapping[str, str]) -> float:
    """The weight of a media range; 0 where it cannot be read."""
    try:
        return float(parameters.get("q", "1"))
    except ValueError:
        return 0


def _acceptable(media_range: str) -> tuple[float, dict[str, str] | None]:
    """Quality and parameters of a media range; None for one that is not offered."""
    name, options = parse_options_header(media_range.strip())
    if name.lower() not in ("application/json", "*/*", "application/*"):
        return 0, None
    parameters = {
        key.lower().removeprefix("odata."): value.lower() for key, value in options.items()
    }
    if not _PARAMETERS.issuperset(parameters):
        return 0, None
    if parameters.get("metadata", "minimal") not in _METADATA:
        return 0, None
    if parameters.get("ieee754compatible", "false") not in ("true", "false"):
        return 0, None
    if parameters.get("charset", "utf-8") not in ("utf-8", "utf8"):
        return 0, None
    return _quality(parameters), parameters


def _long_form(format_option: str) -> str:
    return "application/json" if format_option.lower() == "json" else format_option


def version_of_error(max_version: str | None) -> Version:
    """The version that an error is told in, whatever was wrong with the request."""
    try:
        return version_spoken(max_version)
    except InvalidQueryError:
        return "4.0"


def version_spoken(max_version: str | None, version: str | None = None) -> Version:
    """The version to answer in: 4.0 unless the client says that it understands 4.01 (P4).

    Raises: InvalidQueryError, there is no such version.
    """
    if version is not None and version.strip() not in _VERSIONS:
        raise InvalidQueryError(f"OData-Version must be 4.0 or 4.01, not {version[:20]!r}.")
    if max_version is None:
        return "4.0"
    try:
        major, _, minor = max_version.strip().partition(".")
        number = (int(major), int(minor or "0"))
    except ValueError:
        raise InvalidQueryError(
            f"OData-MaxVersion must be a version such as 4.01, not {max_version[:20]!r}."
        ) from None
    if number < (4, 0):
        raise InvalidQueryError("This service speaks OData 4.0 and 4.01.")
    return "4.01" if number >= (4, 1) else "4.0"


def metadata_as_json(headers: Headers, format_option: str | None) -> tuple[Version, bool]:
    """The version of ``$metadata``, and whether it is wanted as JSON; XML is what it is otherwise.

    Raises: as ``form_for``.
    """
    max_version = headers.get("OData-MaxVersion")
    version = version_spoken(max_version, headers.get("OData-Version"))
    media_ranges = headers.get("Accept") or "*/*"
    if format_option is not None:
        media_ranges = {"xml": "application/xml"}.get(
            format_option.lower(), _long_form(format_option)
        )
    candidates = [
        (quality, -index, as_json)
        for index, media_range in enumerate(media_ranges.split(","))
        for quality, as_json in [_acceptable_csdl(media_range)]
        if quality > 0
    ]
    if version == "4.0" and max_version is not None:
        # CSDL in JSON came with 4.01: who knows 4.0 only gets it where XML is not taken at all.
        candidates = [range_ for range_ in candidates if not range_[2]] or candidates
    if not candidates:
        raise NotAcceptableError(
            f"The requested format is not offered for $metadata: {media_ranges[:100]!r}."
        )
    return version, max(candidates)[2]


def _acceptable_csdl(media_range: str) -> tuple[float, bool]:
    """Quality of a media range, 0 for one that is not offered, and whether it means JSON."""
    name, options = parse_options_header(media_range.strip())
    if name.lower() == "application/json":
        quality, parameters = _acceptable(media_range)
        return (0 if parameters is None else quality), True
    if name.lower() not in ("application/xml", "text/xml", "*/*", "application/*"):
        return 0, False
    return _quality(options), False

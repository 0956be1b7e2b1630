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
    (``Prefer: include-annotations``). ``namespace`` is that of the model, for the names of types.
    """

    metadata: Metadata = "minimal"
    version: Version = "4.0"
    ieee754: bool = False
    omit_nulls: bool = False
    mixed: bool = False
    currencies: bool = False
    namespace: str = ""

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


VERSIONS = ("4.0", "4.01")
# What an answer depends on besides its address (Protocol 8.3.8).
VARY = "Accept, OData-MaxVersion, Prefer"
# What is meant by ``$format=json`` and ``$format=xml``.
_LONG_FORMS = {"json": "application/json", "xml": "application/xml"}
_XML = ("application/xml", "text/xml", "*/*", "application/*")
_METADATA = ("none", "minimal", "full")
# Parameters of application/json that are understood; the last ones change nothing here.
_PARAMETERS = frozenset(
    ("metadata", "ieee754compatible", "streaming", "charset", "exponentialdecimals", "q")
)


def form_for(
    headers: Headers | Mapping[str, str], format_option: str | None = None, *,
    accept: bool = True, namespace: str = "",
) -> Format:  # fmt: skip
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
        namespace,
    )


@lru_cache(maxsize=256)
def _negotiated(
    accept: str | None, format_option: str | None, max_version: str | None,
    version: str | None, namespace: str,
) -> Format:  # fmt: skip
    spoken = version_spoken(max_version, version)
    wanted = (accept or "") if format_option is None else _LONG_FORMS.get(
        format_option.lower(), format_option
    )  # fmt: skip
    if not wanted and format_option is None:
        return Format(version=spoken, namespace=namespace)
    chosen = next(filter(_is_json, _ranges(wanted)), None)
    if chosen is None:
        raise refusal(wanted, "application/json")
    return Format(
        metadata=chosen.parameters.get("metadata", "minimal"),  # type: ignore[arg-type]  # checked
        version=spoken,
        ieee754=chosen.parameters.get("ieee754compatible") == "true",
        namespace=namespace,
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
    ranges = [
        media_range._replace(quality=0)
        if media_range.name.startswith("text/") and not _is_utf_8(media_range)
        else media_range
        for media_range in _ranges(wanted.lower())
    ]
    for fitting in (name, "application/octet-stream", f"{name.partition('/')[0]}/*", "*/*"):
        qualities = [media_range.quality for media_range in ranges if media_range.name == fitting]
        if qualities:
            return max(qualities) > 0
    return False


def quality_of(accept: str, kind: str) -> float:
    """How much ``Accept`` wants a media type, whatever its parameters."""
    names = (kind, f"{kind.partition('/')[0]}/*", "*/*")
    return max((each.quality for each in _ranges(accept) if each.name in names), default=0)


class _MediaRange(NamedTuple):
    """One of those of ``Accept``; ``parameters`` are in lower case and without ``odata.``."""

    name: str
    parameters: Mapping[str, str]
    quality: float  # 0 where it cannot be read


def _ranges(text: str) -> list[_MediaRange]:
    """The media ranges of ``Accept``, or the one of ``$format``, what is wanted most first."""
    ranges = []
    for part in text.split(","):
        name, options = parse_options_header(part.strip())
        parameters = {
            key.lower().removeprefix("odata."): value.lower() for key, value in options.items()
        }
        try:
            quality = float(parameters.get("q", "1"))
        except ValueError:
            quality = 0
        ranges.append(_MediaRange(name.lower(), parameters, quality))
    return sorted(ranges, key=lambda media_range: -media_range.quality)


def _is_json(media_range: _MediaRange) -> bool:
    """Whether JSON as the service writes it is in a range that is not refused."""
    name, parameters, quality = media_range
    return (
        quality > 0
        and name in ("application/json", "*/*", "application/*")
        and _PARAMETERS.issuperset(parameters)
        and parameters.get("metadata", "minimal") in _METADATA
        and parameters.get("ieee754compatible", "false") in ("true", "false")
        and _is_utf_8(media_range)
    )


def _is_utf_8(media_range: _MediaRange) -> bool:
    return media_range.parameters.get("charset", "utf-8") in ("utf-8", "utf8")


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
    if version is not None and version.strip() not in VERSIONS:
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
    wanted = headers.get("Accept") or "*/*"
    if format_option is not None:
        wanted = _LONG_FORMS.get(format_option.lower(), format_option)
    candidates = [
        media_range.name == "application/json"
        for media_range in _ranges(wanted)
        if (_is_json(media_range) and media_range.name == "application/json")
        or (media_range.name in _XML and media_range.quality > 0)
    ]
    if version == "4.0" and max_version is not None and False in candidates:
        # CSDL in JSON came with 4.01: who knows 4.0 only gets it where XML is not taken at all.
        return version, False
    if not candidates:
        raise NotAcceptableError(
            f"The requested format is not offered for $metadata: {wanted[:100]!r}."
        )
    return version, candidates[0]

"""Bodies of articles as safe HTML and as plain text: the one place that does either.

Markdown is CommonMark with tables and struck text; HTML inside it is kept and then cleaned like
any other. What is left has no script, no style, no form, no frame and no address but http, https,
mailto, tel and those of this service.
"""

from __future__ import annotations

import html
import re
from functools import cache
from typing import Any

import markdown_it
import nh3

TAGS = (
    "a abbr b blockquote br caption code col colgroup dd del details div dl dt em figcaption figure"
    " h1 h2 h3 h4 h5 h6 hr i img ins kbd li mark ol p pre q s samp small span strong sub summary"
    " sup table tbody td tfoot th thead tr u ul var"
)
ATTRIBUTES = {
    "a": {"href", "title"},
    "abbr": {"title"},
    "img": {"src", "alt", "title", "width", "height"},
    "ol": {"start"},
    "td": {"colspan", "rowspan", "align"},
    "th": {"colspan", "rowspan", "align", "scope"},
    "code": {"class"},
}
SCHEMES = {"http", "https", "mailto", "tel"}
# No article has so many; taking apart what has takes seconds, so that it is shown as it stands.
MOST_TAGS = 10_000
# Their text is no text of the article.
_SILENT = {"script", "style", "template", "noscript", "iframe", "object", "title"}
_BLOCK_END = re.compile(r"</(?:p|div|h[1-6]|li|tr|blockquote|pre|table|ul|ol|dd|dt)>|<[bh]r\s*/?>")
_TAG = re.compile(r"<[^>]*+>")
_LANGUAGE_CLASS = re.compile(r"language-[A-Za-z0-9+#-]{1,30}")


def to_html(body: str, body_format: str) -> str:
    """The body as HTML that may stand in any page.

    Args:
        body_format: ``Markdown`` or ``Html``.
    """
    if body.count("<") > MOST_TAGS:
        return f"<pre>{html.escape(body)}</pre>"
    source = _markdown().render(body) if body_format == "Markdown" else body
    return str(
        nh3.clean(
            source,
            tags=set(TAGS.split()),
            clean_content_tags=_SILENT,
            attributes=ATTRIBUTES,
            attribute_filter=_filter,
            url_schemes=SCHEMES,
            link_rel="noopener noreferrer nofollow",
        )
    )


def to_text(body: str, body_format: str) -> str:
    """The words of the body, a line for each paragraph, without any markup."""
    marked = to_html(body, body_format)
    plain = html.unescape(_TAG.sub("", _BLOCK_END.sub("\n", marked)))
    lines = (" ".join(line.split()) for line in plain.split("\n"))
    return "\n".join(line for line in lines if line)


def _filter(tag: str, attribute: str, value: str) -> str | None:
    if tag == "code":  # what a highlighter goes by, and nothing else
        return value if _LANGUAGE_CLASS.fullmatch(value) else None
    return value


@cache
def _markdown() -> Any:
    return markdown_it.MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])

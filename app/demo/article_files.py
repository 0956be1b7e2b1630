"""The knowledge base of the demonstration: Markdown files with a front matter, read as values."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "articles"
_FENCE = "---\n"


class ArticleFileError(Exception):
    """A file of the demonstration is malformed; the message names it."""


@dataclass(frozen=True, kw_only=True)
class ArticleFile:
    """One article: ``key`` is the name of its file, ``body`` Markdown without a top heading."""

    key: str
    title: str
    category: str
    language: str  # ISO 639-1
    visibility: str  # "Public" or "Internal"
    summary: str
    tags: tuple[str, ...]
    body: str
    translation_of: str | None = None  # the key of the original

    @property
    def word_count(self) -> int:
        """Words of the body, as blanks separate them."""
        return len(self.body.split())


def read_articles(folder: Path = FOLDER) -> list[ArticleFile]:
    """Every article of ``folder``: originals before their translations, else by key.

    Raises: ArticleFileError, a file has no front matter, or lacks or misspells a field.
    """
    articles = [parse_article(path.stem, path.read_text("utf-8")) for path in folder.glob("*.md")]
    return sorted(articles, key=lambda article: (article.translation_of is not None, article.key))


def parse_article(key: str, content: str) -> ArticleFile:
    """The article in ``content``: lines ``name: value`` between two ``---``, then Markdown.

    The front matter is the part of YAML that these files need: plain or double-quoted text, and
    tags as a list in brackets.
    """
    if not content.startswith(_FENCE) or _FENCE not in content[len(_FENCE) :]:
        raise ArticleFileError(f"{key}.md has no front matter")
    head, body = content[len(_FENCE) :].split(_FENCE, 1)
    fields = dict(_split_field(key, line) for line in head.splitlines())
    tags = fields.pop("tags", "").strip("[]").split(",")
    try:
        return ArticleFile(
            key=key,
            tags=tuple(tag.strip() for tag in tags if tag.strip()),
            body=body.strip() + "\n",
            **fields,
        )
    except TypeError as error:
        raise ArticleFileError(f"{key}.md: {error}") from error


def _split_field(key: str, line: str) -> tuple[str, str]:
    name, colon, value = line.partition(": ")
    if not colon:
        raise ArticleFileError(f"{key}.md: not a field: {line!r}")
    return name, value.strip().removeprefix('"').removesuffix('"')

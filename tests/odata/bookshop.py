"""A small model of its own for the tests of writing: it has one of everything a body can hold."""

from __future__ import annotations

from decimal import Decimal

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Date,
    ForeignKey,
    Integer,
    MetaData,
    Table,
    UniqueConstraint,
)

from app.db.types import ExactDecimal, Identifier, JsonText, OrdinalEnum, UtcDateTime, string
from app.odata.model import edm
from app.odata.model.declare import by_name, entity_type, prop, to_many, to_one

metadata = MetaData()


def _key() -> Column[int]:
    return Column("id", Identifier, primary_key=True, autoincrement=True)


def _version() -> Column[int]:
    return Column("version", Identifier, nullable=False, default=1)


authors = Table(
    "authors",
    metadata,
    _key(),
    _version(),
    Column("name", string(50), nullable=False),
    Column("external_id", string(100), unique=True),
    Column("born", Date),
    Column("joined_at", UtcDateTime()),
    Column("fame", OrdinalEnum("Fame", ("Unknown", "Known", "Famous")), nullable=False,
           default="Unknown"),
    Column("fee", ExactDecimal(10, 2), nullable=False, default=Decimal(0)),
    Column("is_alive", Boolean, nullable=False, default=True),
    Column("street", string(50)),
    Column("city", string(50)),
    Column("labels", JsonText(), nullable=False, default=[]),
    Column("extra", JsonText(), nullable=False, default={}),
    Column("book_count", Integer, nullable=False, default=0),
    Column("pen_name", string(50)),
)  # fmt: skip
books = Table(
    "books",
    metadata,
    _key(),
    _version(),
    Column("title", string(100), nullable=False),
    Column("author_id", Identifier, ForeignKey("authors.id")),
    Column("price", ExactDecimal(10, 2), nullable=False, default=Decimal(0)),
    Column("pages", Integer),
    Column("sold", BigInteger, nullable=False, default=0),
)
chapters = Table(
    "chapters",
    metadata,
    _key(),
    Column("book_id", Identifier, ForeignKey("books.id"), nullable=False),
    Column("position", Integer, nullable=False, default=1),
    Column("heading", string(100), nullable=False),
    Column("reviewer_id", Identifier, ForeignKey("authors.id")),
)
reviews = Table(
    "reviews",
    metadata,
    _key(),
    _version(),
    Column("book_id", Identifier, ForeignKey("books.id"), nullable=False),
    Column("text", string(200)),
)
translations = Table(
    "translations",
    metadata,
    Column("book_id", Identifier, ForeignKey("books.id"), primary_key=True, autoincrement=False),
    Column("language", string(2), primary_key=True),
    Column("title", string(100)),
)
book_genres = Table(
    "book_genres",
    metadata,
    Column("book_id", Identifier, ForeignKey("books.id"), nullable=False),
    Column("genre_id", Identifier, ForeignKey("genres.id"), nullable=False),
    UniqueConstraint("book_id", "genre_id"),
)
genres = Table("genres", metadata, _key(), _version(), Column("name", string(50), nullable=False))

FAME = edm.EnumType("Fame", {"Unknown": 0, "Known": 1, "Famous": 2})
ADDRESS = edm.ComplexType(
    "Address", by_name([prop(authors.c.street), prop(authors.c.city)]), description="An address."
)
EXTRA = edm.ComplexType(
    "Extra",
    by_name([edm.Property(name="shoeSize", type=edm.INT32, attribute="shoe_size")]),
    is_open=True,
)

AUTHOR = entity_type(
    "Author",
    authors,
    [
        prop(authors.c.id, computed=True),
        prop(authors.c.name, searchable=True, description="Name on the cover."),
        prop(authors.c.external_id),
        prop(authors.c.born),
        prop(authors.c.joined_at),
        prop(authors.c.fame, type=FAME),
        prop(authors.c.fee, minimum=0, currency_property="name"),
        prop(authors.c.is_alive),
        edm.Property(
            name="address",
            type=ADDRESS,
            attribute="address",
            columns={"street": "street", "city": "city"},
        ),
        prop(authors.c.labels, type=edm.CollectionType(edm.STRING)),
        prop(authors.c.extra, type=EXTRA),
        prop(authors.c.book_count, computed=True),
        prop(authors.c.pen_name, immutable=True),
    ],
    [to_many("Books", "Book", "author_id", partner="Author")],
    etag="version",
    alternate_keys=(("external_id",),),
    resource="authors",
    description="Who writes books.",
)
BOOK = entity_type(
    "Book",
    books,
    [
        prop(books.c.id, computed=True),
        prop(books.c.title),
        prop(books.c.author_id),
        prop(books.c.price),
        prop(books.c.pages),
        prop(books.c.sold),
    ],
    [
        to_one("Author", "Author", "author_id", partner="Books"),
        to_many("Chapters", "Chapter", "book_id", contained=True, owned=True),
        to_many("Reviews", "Review", "book_id", partner="Book"),
        to_many("Translations", "Translation", "book_id", partner="Book"),
        edm.NavigationProperty(
            name="Genres",
            target="Genre",
            collection=True,
            join=lambda source, other: other["id"].in_(
                book_genres.select()
                .with_only_columns(book_genres.c.genre_id)
                .where(book_genres.c.book_id == source["id"])
            ),
            through=(book_genres, "book_id", "genre_id"),
        ),
    ],
    etag="version",
)
CHAPTER = entity_type(
    "Chapter",
    chapters,
    [
        prop(chapters.c.id, computed=True),
        prop(chapters.c.book_id, computed=True),
        prop(chapters.c.position),
        prop(chapters.c.heading),
        prop(chapters.c.reviewer_id),
    ],
    [to_one("Reviewer", "Author", "reviewer_id")],
)
REVIEW = entity_type(
    "Review",
    reviews,
    [prop(reviews.c.id, computed=True), prop(reviews.c.book_id), prop(reviews.c.text)],
    [to_one("Book", "Book", "book_id", partner="Reviews", nullable=False)],
    etag="version",
)
TRANSLATION = entity_type(
    "Translation",
    translations,
    [prop(translations.c.book_id), prop(translations.c.language), prop(translations.c.title)],
    [to_one("Book", "Book", "book_id", partner="Translations", nullable=False)],
    key=("bookId", "language"),
)
GENRE = entity_type(
    "Genre", genres, [prop(genres.c.id, computed=True), prop(genres.c.name)], etag="version"
)


def bookshop(**services: edm.Service) -> edm.EntityContainer:
    """The container, with the services given by set name; a set without one is read-only."""
    types = [AUTHOR, BOOK, CHAPTER, REVIEW, TRANSLATION, GENRE]
    sets = {
        "Authors": AUTHOR,
        "Books": BOOK,
        "Reviews": REVIEW,
        "Translations": TRANSLATION,
        "Genres": GENRE,
    }
    return edm.EntityContainer(
        namespace="Bookshop",
        name="Container",
        sets={
            name: edm.EntitySet(name=name, type=type_, service=services.get(name))
            for name, type_ in sets.items()
        },
        types=by_name(types),
        complex_types=by_name([ADDRESS, EXTRA]),
        enum_types=by_name([FAME]),
    )

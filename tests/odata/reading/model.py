"""A model for reading: every kind of property, nullable and not, and relations both ways."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    Date,
    Double,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Table,
    cast,
    text,
)

from app.container.common import trigrams_of
from app.db.types import ExactDecimal, Identifier, JsonText, OrdinalEnum, UtcDateTime, string
from app.odata.model import edm
from app.odata.model.declare import by_name, entity_type, prop, to_many, to_one
from migrations import search_index

metadata = MetaData()
LEVELS = ("Low", "Normal", "High", "Urgent")

makers = Table(
    "makers",
    metadata,
    Column("id", Identifier, primary_key=True),
    Column("name", string(50), nullable=False, info={"searchable": True}),
    Column("rank", Integer),
    Column("city", string(50), info={"searchable": True}),
)
items = Table(
    "items",
    metadata,
    Column("id", Identifier, primary_key=True),
    Column("version", Identifier, nullable=False, default=1),
    Column("name", string(100), nullable=False, info={"searchable": True}),
    Column("note", string(100), info={"searchable": True}),
    Column("code", string(20), unique=True),
    Column("size", Integer),
    Column("count", Integer, nullable=False),
    Column("price", ExactDecimal(10, 2), nullable=False),
    Column("cost", ExactDecimal(12, 4)),
    Column("weight", Double),
    Column("active", Boolean, nullable=False),
    Column("checked", Boolean),
    Column("made", Date),
    Column("at", UtcDateTime(), nullable=False),
    Column("seen", UtcDateTime()),
    Column("level", OrdinalEnum("Level", LEVELS), nullable=False),
    Column("street", string(50)),
    Column("city", string(50)),
    Column("labels", JsonText(), nullable=False),
    Column("lines", JsonText(), nullable=False),
    Column("extra", JsonText()),
    Column("parent_id", Identifier, ForeignKey("items.id")),
    Column("maker_id", Identifier, ForeignKey("makers.id")),
    Index("ix_items_name", "name", "id"),
    Index("ix_items_made", "made", "id"),
    Index("ix_items_price_name", text("price DESC"), "name", "id"),
)
vehicles = Table(
    "vehicles",
    metadata,
    Column("id", Identifier, primary_key=True),
    Column("kind", string(10), nullable=False),
    Column("name", string(20), nullable=False),
    Column("seats", Integer),
    Column("street", string(50)),
    Column("city", string(50)),
    Column("tags", JsonText()),
    Column("fare", ExactDecimal(10, 2)),
    Column("load", Integer),
    Column("maker_id", Identifier, ForeignKey("makers.id")),
    Column("owner_id", Identifier, ForeignKey("makers.id")),
)


def create_indexes(connection: Connection) -> None:
    """The indexes behind ``contains`` and ``$search``."""
    fields = {"items": (("name",), ("note",)), "makers": (("name",), ("city",))}
    search_index.create(connection, fields)


LEVEL = edm.EnumType("Level", {name: at for at, name in enumerate(LEVELS)})
PLACE = edm.ComplexType("Place", by_name([prop(items.c.street), prop(items.c.city)]))
LINE = edm.ComplexType(
    "Line",
    by_name(
        [
            edm.Property(name="text", type=edm.STRING, attribute="text"),
            edm.Property(name="rate", type=edm.DECIMAL, attribute="rate", scale=2),
        ]
    ),
)
EXTRA = edm.ComplexType("Extra", {}, is_open=True)

ITEM = entity_type(
    "Item",
    items,
    [
        prop(items.c.id, computed=True),
        *(
            prop(column)
            for column in items.c
            if column.name in ("name", "note", "code", "size", "count", "price", "cost", "active",
                               "checked", "made", "at", "seen")
        ),
        edm.Property(name="weight", type=edm.DOUBLE, attribute="weight"),
        prop(items.c.level, type=LEVEL),
        edm.Property(
            name="place",
            type=PLACE,
            attribute="place",
            columns={"street": "street", "city": "city"},
        ),
        prop(items.c.labels, type=edm.CollectionType(edm.STRING)),
        prop(items.c.lines, type=edm.CollectionType(LINE)),
        prop(items.c.extra, type=EXTRA),
        prop(items.c.parent_id),
        prop(items.c.maker_id),
    ],
    [
        to_one("Parent", "Item", "parent_id", partner="Children"),
        to_many("Children", "Item", "parent_id", partner="Parent"),
        to_one("Maker", "Maker", "maker_id", partner="Items"),
    ],
    etag="version",
    alternate_keys=(("code",),),
    trigrams=trigrams_of("items"),
)  # fmt: skip
MAKER = entity_type(
    "Maker",
    makers,
    [
        prop(makers.c.id, computed=True),
        prop(makers.c.name),
        prop(makers.c.rank),
        prop(makers.c.city),
    ],
    [to_many("Items", "Item", "maker_id", partner="Maker")],
    trigrams=trigrams_of("makers"),
)


def _vehicle(name: str, base: edm.EntityType | None, *own: Any) -> edm.EntityType:
    """A type of vehicles: what its base has, and what it adds."""
    added = [each for each in own if isinstance(each, edm.Property)]
    relations = [each for each in own if not isinstance(each, edm.Property)]
    return entity_type(
        name,
        vehicles,
        [*(base.properties.values() if base else ()), *added],
        [*(base.navigation.values() if base else ()), *relations],
        base=base,
        discriminator=("kind", name),
    )


VEHICLE = _vehicle(
    "Vehicle", None, prop(vehicles.c.id, computed=True), prop(vehicles.c.name),
    to_one("Maker", "Maker", "maker_id"),
    edm.NavigationProperty(name="Kin", target="Vehicle", collection=True,
                           join=lambda source, other: other["maker_id"] == source["maker_id"]),
)  # fmt: skip
CAR = _vehicle(
    "Car", VEHICLE, prop(vehicles.c.seats),
    edm.Property(name="garage", type=PLACE, attribute="garage",
                 columns={"street": "street", "city": "city"}),
    prop(vehicles.c.tags, type=edm.CollectionType(edm.STRING)),
    to_one("Owner", "Maker", "owner_id"),
)  # fmt: skip
TAXI = _vehicle("Taxi", CAR, prop(vehicles.c.fare))
VAN = _vehicle("Van", VEHICLE, prop(vehicles.c.load))


def _function(
    name: str, bound_to: str | None, expression: Any, **types: edm.PrimitiveType
) -> edm.Operation:
    """A function that expressions can call."""
    return edm.Operation(
        name=name, is_action=False, bound_to=bound_to,
        parameters=tuple(
            edm.Parameter(name=part, type=type_, nullable=False) for part, type_ in types.items()
        ),
        returns=edm.INT64, expression=expression, import_name=None if bound_to else name,
    )  # fmt: skip


FUNCTIONS = (
    _function("Doubled", "Item", lambda columns, given: columns.count * 2),
    _function(
        "Plus", "Maker", lambda columns, given: cast(columns.rank, BigInteger) + given["n"],
        n=edm.INT64,
    ),
    edm.Operation(
        name="Opaque", is_action=False, handler=lambda key, given: 1, bound_to="Item",
        returns=edm.INT64,
    ),
    _function("Twice", None, lambda nothing, given: given["n"] * 2, n=edm.INT64),
    _function(
        "Twice", None, lambda nothing, given: given["a"] + given["b"], a=edm.INT64, b=edm.INT64
    ),
    edm.Operation(
        name="Ranked", is_action=False, import_name="Ranked", returns=MAKER,
        returns_collection=True, handler=print,
        parameters=(edm.Parameter(name="rank", type=edm.INT64, nullable=False),),
        members=lambda nothing, maker, given: cast(maker.rank, BigInteger) >= given["rank"],
    ),
    edm.Operation(
        name="Hidden", is_action=False, import_name="Hidden", handler=print, returns=edm.INT64
    ),
    edm.Operation(name="Wash", is_action=True, bound_to="Vehicle", handler=print),
    edm.Operation(name="Hail", is_action=True, bound_to="Taxi", handler=print),
)  # fmt: skip

CONTAINER = edm.EntityContainer(
    namespace="Workshop",
    name="Container",
    sets=by_name(
        [
            edm.EntitySet(name="Items", type=ITEM),
            edm.EntitySet(name="Makers", type=MAKER),
            edm.EntitySet(name="Vehicles", type=VEHICLE),
        ]
    ),
    types=by_name([ITEM, MAKER, VEHICLE, CAR, TAXI, VAN]),
    complex_types=by_name([PLACE, LINE, EXTRA]),
    enum_types=by_name([LEVEL]),
    singletons={"Best": edm.Singleton(name="Best", type=MAKER, key=lambda: 1)},
    operations=FUNCTIONS,
)

MAKER_ROWS: list[dict[str, Any]] = [
    {"id": 1, "name": "Ärmel & Söhne", "rank": 3, "city": "Köln"},
    {"id": 2, "name": "Delta", "rank": None, "city": None},
    {"id": 3, "name": "delta", "rank": -1, "city": "Lyon"},
]
VEHICLE_ROWS: list[dict[str, Any]] = [
    {"id": at, "kind": kind, "name": f"{kind} {at}", "maker_id": maker}
    | ({"seats": at, "city": f"city {at}", "tags": ["a", "b"]} if kind in ("Car", "Taxi") else {})
    | ({"owner_id": 2} if at == 2 else {"owner_id": 3} if at == 3 else {})
    | ({"fare": Decimal("2.50")} if kind == "Taxi" else {"load": 7} if kind == "Van" else {})
    for at, kind, maker in (
        (1, "Vehicle", 1), (2, "Car", 1), (3, "Taxi", 1), (4, "Van", 2), (5, "Taxi", None)
    )
]  # fmt: skip
# Texts that tell apart: case, accents, wildcards of LIKE, quotes, code points beyond 16 bits.
_NAMES = (
    "Alpha", "alpha", "ALPHA BETA", "50% off", "50_off", "a\\b", "O'Neil", 'say "hi"', "Zürich",
    "ZÜRICH", "straße", "İstanbul", "ΣΊΣΥΦΟΣ", "日本語", "𝄞 clef", "", " padded ", "tab\there",
    "line\nbreak", "eé", "Zebra", "Acme Ltd", "the acme", "x\x7fy",
)  # fmt: skip
_NOTES = (None, "", "alpha", "Alpha beta", "50%", None, "été", "no", "_", "\\")
_SIZES = (None, 0, 1, -1, 7, 5, 2147483647, -2147483648)
_PRICES = ("0", "0.01", "-0.01", "1.50", "100.00", "100.01", "99.99", "12345678.90", "-7.25")
_COSTS = (None, "0", "0.0001", "-0.0001", "2.5", "3.3333", "12345678.1234", "-99.9")
_DAYS = (None, "2024-02-29", "2024-01-01", "1999-12-31", "2025-07-15")
_INSTANTS = (
    "2024-01-01T00:00:00.000Z", "2024-01-01T23:59:59.999Z", "2023-12-31T23:59:59.999Z",
    "2024-02-29T12:34:56.789Z", "1970-01-01T00:00:00.000Z", "2025-07-15T06:07:08.090Z",
)  # fmt: skip
_EXTRAS: tuple[Any, ...] = (
    None, {}, {"colour": "red", "score": 5}, {"colour": "blue", "score": Decimal("5.50")},
    {"colour": 5, "ok": True},
    {"colour": None, "ok": False, "deep": {"x": [1, "a"]},
     "wide": {"y": {"z": "red", "n": 5.50}}},
)  # fmt: skip


def _pick(values: tuple[Any, ...], row: int, step: int) -> Any:
    return values[(row * step + row // len(values)) % len(values)]


def item_rows(count: int = 60) -> list[dict[str, Any]]:
    """Rows that mix all values with each other; the same every time."""
    return [_item(row) for row in range(count)]


def _item(row: int) -> dict[str, Any]:
    seen = _pick((None, *_INSTANTS), row, 5)
    made, cost = _pick(_DAYS, row, 3), _pick(_COSTS, row, 3)
    return {
        "id": row + 1,
        "version": row % 3 + 1,
        "name": _NAMES[row % len(_NAMES)],
        "note": _pick(_NOTES, row, 3),
        "code": None if row % 4 == 0 else f"K-{row:03d}",
        "size": _pick(_SIZES, row, 3),
        "count": row * 7 % 11 - 3,
        "price": Decimal(_pick(_PRICES, row, 4)),
        "cost": None if cost is None else Decimal(cost),
        "weight": _pick((None, 0.0, 0.1, -2.5, 1e21, 1e-7, 123456.75), row, 2),
        "active": row % 3 != 0,
        "checked": _pick((None, True, False), row, 1),
        "made": None if made is None else date.fromisoformat(made),
        "at": datetime.fromisoformat(_pick(_INSTANTS, row, 5)).astimezone(UTC),
        "seen": None if seen is None else datetime.fromisoformat(seen).astimezone(UTC),
        "level": LEVELS[row * 3 % 4],
        "street": _pick((None, "High Street 1"), row, 1),
        "city": _pick((None, "Köln", None, "Lyon"), row, 1),
        "labels": [["vip", "new"], [], ["vip"], ["O'x", "50%"]][row % 4],
        "lines": [[], [{"text": "a", "rate": Decimal("19.00")}],
                  [{"text": "b", "rate": Decimal("7.00")}, {"text": "c", "rate": None}]][row % 3],
        "extra": _pick(_EXTRAS, row, 1),
        "parent_id": None if row < 6 else row // 6,
        "maker_id": _pick((1, None, 2, 3), row, 1),
    }  # fmt: skip

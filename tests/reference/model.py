"""The reference model as an entity data model over its tables."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Select, select

from app.odata.csdl.annotations import CORE
from app.odata.model import edm
from app.odata.model.declare import by_name, entity_type, prop, to_many, to_one
from tests.reference import tables as t

NAMESPACE = "ComplianceService"
COMPANY_ID = UUID("00000000-0000-4000-8000-00000000c0de")

STATUS = edm.EnumType(
    "ProductStatus",
    {"None": 0, "InStock": 1, "OnSale": 2, "Discontinued": 4, "Featured": 8},
    is_flags=True,
)
RELEASE_DATE = edm.TypeDefinition("ReleaseDateValue", edm.DATE)
SHIPPING_TIME = edm.TypeDefinition("DurationValue", edm.DURATION)
# Microseconds are kept.
LENGTH: dict[str, Any] = {"type": edm.DURATION, "precision": 6}
P = t.products.c
ADDRESS = edm.ComplexType(
    "Address",
    by_name(
        [
            prop(P.street, "Street"),
            prop(P.city, "City"),
            prop(P.state, "State"),
            prop(P.postal_code, "PostalCode"),
            prop(P.country, "Country"),
        ]
    ),
)
DIMENSIONS = edm.ComplexType(
    "Dimensions",
    by_name(
        [
            prop(P.length, "Length"),
            prop(P.width, "Width"),
            prop(P.height, "Height"),
            prop(P.unit, "Unit"),
        ]
    ),
)


def _parts(type_: edm.ComplexType) -> Mapping[str, str]:
    return {name: one.attribute for name, one in type_.properties.items()}


def _short(column: Any, name: str, type_: edm.PrimitiveType, low: int, high: int) -> edm.Property:
    return prop(column, name, type=type_, minimum=low, maximum=high)


_PRODUCT = [
    prop(P.id, "ID", computed=True),
    prop(P.name, "Name", searchable=True, description="Product display name"),
    prop(P.description, "Description", description="Detailed product description"),
    prop(P.price, "Price", required=True, precision=10, scale=2),
    _short(P.rating, "Rating", edm.BYTE, 0, 255),
    _short(P.temperature, "Temperature", edm.SBYTE, -128, 127),
    prop(P.quantity, "Quantity"),
    prop(P.weight, "Weight", type=edm.SINGLE),
    prop(P.data, "Data"),
    prop(P.release_date, "ReleaseDate", definition=RELEASE_DATE),
    prop(P.open_time, "OpenTime"),
    prop(P.shipping_time, "ShippingTime", **LENGTH, definition=SHIPPING_TIME),
    prop(P.processing_time, "ProcessingTime", **LENGTH),
    prop(P.offset, "Offset", **LENGTH),
    prop(P.category_id, "CategoryID"),
    prop(P.status, "Status", type=STATUS),
    prop(P.version, "Version", computed=True),
    prop(P.created_at, "CreatedAt", computed=True),
    prop(
        P.serial_number,
        "SerialNumber",
        immutable=True,
        description="Unique serial number assigned at creation",
    ),
    prop(P.product_type, "ProductType", preserved=True),
    edm.Property(
        name="ShippingAddress",
        type=ADDRESS,
        attribute="shipping_address",
        columns=_parts(ADDRESS),
    ),
    edm.Property(
        name="Dimensions", type=DIMENSIONS, attribute="dimensions", columns=_parts(DIMENSIONS)
    ),
    prop(P.location, "Location", type=edm.GEOGRAPHY["Point"]),
    prop(P.route, "Route", type=edm.GEOGRAPHY["LineString"]),
    prop(P.area, "Area", type=edm.GEOGRAPHY["Polygon"]),
    prop(P.photo, "Photo", type=edm.STREAM),
]
_SPECIAL = [
    prop(P.special_property, "SpecialProperty"),
    prop(P.special_feature, "SpecialFeature"),
]


def _related(source: Any, other: Any) -> Any:
    link = t.related_products.alias()
    return (
        link.select()
        .with_only_columns(link.c.product_id)
        .where(link.c.product_id == source.id, link.c.related_id == other.id)
        .correlate_except(link)
        .exists()
    )


class ProductChanges:
    """Where the changes of products are read from."""

    def changed(self, since: datetime) -> Select[Any]:
        return select(P.id, P.version, P.changed_at).where(P.changed_at > since)

    def removed(self, since: datetime) -> Select[Any]:
        columns = t.deleted_products.c
        return select(columns.id).where(columns.deleted_at > since)

    def broken(self, since: datetime) -> Select[Any] | None:
        return None

    def known(
        self, connection: Connection, caller: Any, keys: Collection[Any], since: datetime
    ) -> Collection[Any]:
        return keys


_PRODUCT_NAVIGATION = [
    to_one("Category", "Category", "category_id", target_key="id", partner="Products"),
    to_many("Descriptions", "ProductDescription", "product_id", partner="Product"),
    edm.NavigationProperty(
        name="RelatedProducts",
        target="Product",
        collection=True,
        join=_related,
        through=(t.related_products, "product_id", "related_id"),
    ),
]
PRODUCT = entity_type(
    "Product",
    t.products,
    _PRODUCT,
    _PRODUCT_NAVIGATION,
    key=("ID",),
    etag="version",
    discriminator=("product_type", "Product"),
    changes=ProductChanges(),
)
SPECIAL_PRODUCT = entity_type(
    "SpecialProduct",
    t.products,
    [*_PRODUCT, *_SPECIAL],
    _PRODUCT_NAVIGATION,
    key=("ID",),
    etag="version",
    base=PRODUCT,
    discriminator=("product_type", "SpecialProduct"),
)
CATEGORY = entity_type(
    "Category",
    t.categories,
    [
        prop(t.categories.c.id, "ID", computed=True),
        prop(t.categories.c.name, "Name"),
        prop(t.categories.c.description, "Description"),
    ],
    [to_many("Products", "Product", "category_id", partner="Category")],
    key=("ID",),
)
DESCRIPTION = entity_type(
    "ProductDescription",
    t.descriptions,
    [
        prop(t.descriptions.c.product_id, "ProductID"),
        prop(t.descriptions.c.language_key, "LanguageKey"),
        prop(t.descriptions.c.description, "Description"),
        prop(t.descriptions.c.long_text, "LongText"),
        prop(t.descriptions.c.custom_name, "CustomName"),
    ],
    [to_one("Product", "Product", "product_id", partner="Descriptions", nullable=False)],
    key=("ProductID", "LanguageKey"),
)
MEDIA_ITEM = entity_type(
    "MediaItem",
    t.media_items,
    [
        prop(t.media_items.c.id, "ID", computed=True),
        prop(t.media_items.c.name, "Name"),
        prop(t.media_items.c.content_type, "ContentType"),
        prop(t.media_items.c.size, "Size"),
        prop(t.media_items.c.created_at, "CreatedAt", required=False),
        prop(t.media_items.c.modified_at, "ModifiedAt", required=False),
    ],
    key=("ID",),
    has_stream=True,
)
READ_ONLY_ITEM = entity_type(
    "ReadOnlyItem",
    t.read_only_items,
    [
        prop(t.read_only_items.c.id, "ID", computed=True),
        prop(t.read_only_items.c.name, "Name"),
    ],
    key=("ID",),
)
DECIMAL_SAMPLE = entity_type(
    "DecimalSample",
    t.decimal_samples,
    [
        prop(t.decimal_samples.c.id, "ID", computed=True),
        prop(t.decimal_samples.c.name, "Name"),
        prop(t.decimal_samples.c.amount, "Amount", type=edm.DECIMAL, precision=38, scale=18),
    ],
    key=("ID",),
)
COMPANY_INFO = entity_type(
    "CompanyInfo",
    t.companies,
    [
        prop(t.companies.c.id, "ID", computed=True),
        prop(t.companies.c.name, "Name"),
        prop(t.companies.c.ceo, "CEO"),
        prop(t.companies.c.founded, "Founded"),
        prop(t.companies.c.head_quarter, "HeadQuarter"),
        prop(t.companies.c.website, "Website"),
        prop(t.companies.c.logo, "Logo", annotations={f"{CORE}.MediaType": "image/svg+xml"}),
        prop(t.companies.c.version, "Version", computed=True),
        prop(t.companies.c.updated_at, "UpdatedAt", computed=True),
    ],
    key=("ID",),
    etag="version",
)


def container(
    services: Mapping[str, Any],
    operations: tuple[edm.Operation, ...] = (),
    results: tuple[edm.ComplexType, ...] = (),
) -> edm.EntityContainer:
    """The container with its services by set name; a set without one is read-only."""
    types = [
        PRODUCT, SPECIAL_PRODUCT, CATEGORY, DESCRIPTION, MEDIA_ITEM, READ_ONLY_ITEM,
        DECIMAL_SAMPLE, COMPANY_INFO,
    ]  # fmt: skip
    sets = {
        "Products": PRODUCT,
        "Categories": CATEGORY,
        "ProductDescriptions": DESCRIPTION,
        "MediaItems": MEDIA_ITEM,
        "ReadOnlyItems": READ_ONLY_ITEM,
        "DecimalSamples": DECIMAL_SAMPLE,
    }
    return edm.EntityContainer(
        namespace=NAMESPACE,
        name="Container",
        sets={
            name: edm.EntitySet(
                name=name, type=type_, service=services.get(name), takes_deltas=False
            )
            for name, type_ in sets.items()
        },
        types=by_name(types),
        complex_types=by_name([ADDRESS, DIMENSIONS, *results]),
        enum_types=by_name([STATUS]),
        type_definitions=by_name([RELEASE_DATE, SHIPPING_TIME]),
        singletons=by_name(
            [
                edm.Singleton(
                    name="Company",
                    type=COMPANY_INFO,
                    key=lambda: COMPANY_ID,
                    service=services.get("Company"),
                )
            ]
        ),
        operations=operations,
        is_default_namespace=True,
    )

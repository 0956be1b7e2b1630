"""The functions and actions of the reference model; several have overloads."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

from sqlalchemy import ColumnElement, Select, Text, func, literal, select, update

from app.clock import utc_now
from app.db import records
from app.odata.model import edm
from app.odata.model.declare import by_name
from app.odata.sql.dialect_sql import DialectSql
from tests.reference import tables as t
from tests.reference.model import PRODUCT
from tests.reference.seed import reseed

P = t.products.c
IN_STOCK, DISCONTINUED = 1, 4
Arguments = Mapping[str, Any]
_FLAGS = 2**31 - 1


def _run(statement: Any) -> Any:
    return records.connection().execute(statement)


def _keys(statement: Select[Any]) -> list[Any]:
    return [row[0] for row in _run(statement)]


def _product(key: Any) -> Any:
    return _run(select(t.products).where(P.id == key)).mappings().one()


def _change(*conditions: Any, **values: Any) -> None:
    made = {**values, "version": P.version + 1, "changed_at": utc_now()}
    _run(update(t.products).where(*conditions).values(made))


# --- functions


def top_products(arguments: Arguments) -> list[Any]:
    """The dearest products, of one category if it is named; 10 at most."""
    found = select(P.id).order_by(P.price.desc(), P.id).limit(min(arguments.get("count", 10), 10))
    if "category" in arguments:
        known = select(t.categories.c.id).where(t.categories.c.name == arguments["category"])
        found = found.where(P.category_id.in_(known))
    return _keys(found)


def product_stats(arguments: Arguments) -> dict[str, Any]:
    """Number and prices of all products."""
    row = _run(
        select(func.count(), func.avg(P.price), func.max(P.price), func.min(P.price)).select_from(
            t.products
        )
    ).one()
    return dict(zip(("totalProducts", "averagePrice", "maxPrice", "minPrice"), row, strict=True))


def find_products(arguments: Arguments) -> list[Any]:
    """The products with ``name`` in their name that cost at most ``maxPrice``."""
    named = func.lower(P.name).contains(arguments["name"].lower(), autoescape=True)
    return _keys(select(P.id).where(named, P.price <= arguments["maxPrice"]).order_by(P.id))


def twice(arguments: Arguments) -> Any:
    """Of a number, or of an expression of SQL."""
    return arguments["value"] * 2


def plus(arguments: Arguments) -> Any:
    """Of two numbers, or of two expressions of SQL."""
    return arguments["a"] + arguments["b"]


def of_nothing(compute: Callable[[Arguments], Any]) -> Callable[[None, Arguments], Any]:
    """What is computed of arguments alone, as the SQL of a function that is bound to nothing."""
    return lambda columns, arguments: compute(arguments)


def average_price(columns: Any, arguments: Arguments) -> ColumnElement[float]:
    """The mean price of a collection of products, as SQL."""
    return func.coalesce(func.avg(columns.price), 0.0)


def total_price(columns: Any, arguments: Arguments) -> ColumnElement[float]:
    """The price with tax, as SQL: expressions can call the function, too."""
    return columns.price * (1 + arguments["taxRate"])


def _related(category: Any, key: Any) -> Select[Any]:
    """The keys of other products of a category, 5 at most."""
    other = t.products.alias()
    same = select(other.c.id).where(other.c.category_id == category, other.c.id != key)
    return same.order_by(other.c.id).limit(5)


def related_products(key: Any, arguments: Arguments) -> list[Any]:
    """Other products of the same category."""
    return _keys(_related(_product(key)["category_id"], key))


def is_related(columns: Any, other: Any, arguments: Arguments) -> ColumnElement[bool]:
    """Whether a product is among the related ones of another, as SQL."""
    related = _related(columns.category_id, columns.id).correlate(columns.id.table)
    return other.id.in_(related.scalar_subquery())


def calculated_price(columns: Any, arguments: Arguments) -> ColumnElement[float]:
    """The price less a discount, tax added if there is one; as SQL."""
    price = columns.price * (1 - arguments["discount"] / 100.0)
    return price * (1 + arguments["tax"] / 100.0) if "tax" in arguments else price


def info(columns: Any, arguments: Arguments) -> ColumnElement[str]:
    """Name and price in words; as SQL."""
    price = DialectSql(
        Text(), "printf('%.2f', {0})", "CAST(round(CAST({0} AS NUMERIC), 2) AS TEXT)", columns.price
    )
    words = ("Product: ", columns.name, " (Price: ", price, ") in ", arguments["format"], " format")
    return reduce(operator.add, (literal(one) if isinstance(one, str) else one for one in words))


# --- actions


def apply_discount(key: Any, arguments: Arguments) -> Any:
    _change(P.id == key, price=P.price * (1 - float(arguments["percentage"]) / 100))
    return key


def increase_price(key: Any, arguments: Arguments) -> None:
    _change(P.id == key, price=P.price + float(arguments["amount"]))


def activate(key: Any, arguments: Arguments) -> None:
    """In stock and not discontinued; other flags stay."""
    kept = P.status.op("&")(_FLAGS - DISCONTINUED)
    _change(P.id == key, status=kept.op("|")(IN_STOCK))


def calculate_discount(key: Any, arguments: Arguments) -> float:
    price: float = _product(key)["price"]
    return price * (1 - float(arguments["percentage"]) / 100)


def process(arguments: Arguments) -> None:
    """A discount on everything, or on what costs at least ``minPrice``."""
    conditions = [P.price >= float(arguments["minPrice"])] if "minPrice" in arguments else []
    _change(*conditions, price=P.price * (1 - float(arguments["percentage"]) / 100))


def nothing(*given: Any) -> None:
    """What has no effect on a model that nobody reviews."""


def reset_prices(arguments: Arguments) -> dict[str, Any]:
    return {"message": "No price was changed.", "updatedCount": 0}


def reseed_all(arguments: Arguments) -> dict[str, Any]:
    reseed(records.connection())
    return {"status": "ok", "message": "The data are those of the seed again."}


# --- their declarations


def _result(name: str, **types: edm.PrimitiveType) -> edm.ComplexType:
    return edm.ComplexType(
        name,
        by_name(
            [edm.Property(name=part, type=type_, attribute=part) for part, type_ in types.items()]
        ),
    )


STATS = _result(
    "ProductStats", totalProducts=edm.INT64, averagePrice=edm.DOUBLE, maxPrice=edm.DOUBLE,
    minPrice=edm.DOUBLE,
)  # fmt: skip
RESET = _result("ResetResult", message=edm.STRING, updatedCount=edm.INT64)
RESEEDED = _result("ReseedResult", status=edm.STRING, message=edm.STRING)
RESULTS = (STATS, RESET, RESEEDED)


def _parameters(types: Mapping[str, edm.PrimitiveType]) -> tuple[edm.Parameter, ...]:
    return tuple(
        edm.Parameter(name=name, type=type_, nullable=False) for name, type_ in types.items()
    )


def _function(
    name_: str, handler: Callable[..., Any], returns: Any, *, many: bool = False,
    expression: Callable[..., ColumnElement[Any]] | None = None, **types: edm.PrimitiveType,
) -> edm.Operation:  # fmt: skip
    return edm.Operation(
        name=name_, is_action=False, handler=handler, parameters=_parameters(types),
        returns=returns, returns_collection=many, import_name=name_, expression=expression,
    )  # fmt: skip


def _of_product(
    name: str, handler: Callable[..., Any] | None, returns: Any = None, *, is_action: bool = False,
    many: bool = False, of_all: bool = False,
    expression: Callable[..., ColumnElement[Any]] | None = None,
    members: Callable[..., ColumnElement[bool]] | None = None, **types: edm.PrimitiveType,
) -> edm.Operation:  # fmt: skip
    return edm.Operation(
        name=name, is_action=is_action, handler=handler, parameters=_parameters(types),
        returns=returns, returns_collection=many, bound_to="Product", bound_to_collection=of_all,
        expression=expression, members=members,
    )  # fmt: skip


def _computed(
    name: str, expression: Callable[..., ColumnElement[Any]], returns: edm.PrimitiveType,
    **types: edm.PrimitiveType,
) -> edm.Operation:  # fmt: skip
    return edm.Operation(
        name=name, is_action=False, expression=expression, parameters=_parameters(types),
        returns=returns, bound_to="Product",
    )  # fmt: skip


def _action(
    name: str, handler: Callable[..., Any], returns: Any = None, **types: edm.PrimitiveType
) -> edm.Operation:
    return edm.Operation(
        name=name, is_action=True, handler=handler, parameters=_parameters(types),
        returns=returns, import_name=name,
    )  # fmt: skip


INT64, DOUBLE, STRING = edm.INT64, edm.DOUBLE, edm.STRING
OPERATIONS: tuple[edm.Operation, ...] = (
    _function("GetTopProducts", top_products, PRODUCT, many=True),
    _function("GetTopProducts", top_products, PRODUCT, many=True, count=INT64),
    _function("GetTopProducts", top_products, PRODUCT, many=True, count=INT64, category=STRING),
    _function("GetProductStats", product_stats, STATS),
    _function("FindProducts", find_products, PRODUCT, many=True, name=STRING, maxPrice=DOUBLE),
    _function("Calculate", twice, INT64, value=INT64, expression=of_nothing(twice)),
    _function("Calculate", plus, INT64, a=INT64, b=INT64, expression=of_nothing(plus)),
    _function("Convert", lambda given: f"String: {given['input']}", STRING, input=STRING),
    _function("Convert", lambda given: f"Number: {given['number']}", STRING, number=INT64),
    _of_product("GetAveragePrice", None, DOUBLE, of_all=True, expression=average_price),
    _computed("GetTotalPrice", total_price, DOUBLE, taxRate=DOUBLE),
    _of_product("GetRelatedProducts", related_products, PRODUCT, many=True, members=is_related),
    _computed("CalculatePrice", calculated_price, DOUBLE, discount=DOUBLE),
    _computed("CalculatePrice", calculated_price, DOUBLE, discount=DOUBLE, tax=DOUBLE),
    _computed("GetInfo", info, STRING, format=STRING),
    _of_product("ApplyDiscount", apply_discount, PRODUCT, is_action=True, percentage=DOUBLE),
    _of_product("IncreasePrice", increase_price, is_action=True, amount=DOUBLE),
    _of_product("Activate", activate, is_action=True),
    _of_product("CalculateDiscount", calculate_discount, DOUBLE, is_action=True, percentage=DOUBLE),
    _of_product("MarkAllAsReviewed", nothing, is_action=True, of_all=True),
    _action("ResetAllPrices", reset_prices, RESET),
    _action("ResetProducts", nothing),
    _action("Process", process, percentage=DOUBLE),
    _action("Process", process, percentage=DOUBLE, minPrice=DOUBLE),
    _action("Reseed", reseed_all, RESEEDED),
)

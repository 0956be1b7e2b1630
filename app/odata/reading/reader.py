"""GET through OData: from the text of a request to the bytes of its answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields

from sqlalchemy import Connection, case
from sqlalchemy.exc import DataError, DBAPIError

from app.errors import (
    InvalidQueryError,
    NotAcceptableError,
    NotFoundError,
    NotImplementedInServiceError,
)
from app.http.page_sizes import EXPANDED, ODATA, PageSize
from app.http.security import Caller
from app.odata.binding.context import Context
from app.odata.binding.derived import type_of_one_row
from app.odata.binding.translator import Translator
from app.odata.binding.values import Scope
from app.odata.csdl.annotations import MEASURES
from app.odata.errors import QueryError, UnsupportedError, option
from app.odata.model import edm
from app.odata.protocol.negotiation import Format, form_for, refusal
from app.odata.protocol.preferences import NO_PREFERENCES
from app.odata.protocol.request import ReadRequest
from app.odata.reading.answers import Answer, Answering
from app.odata.reading.plan import Plan, PlanCache
from app.odata.reading.planner import make_plan
from app.odata.reading.query import (
    Query,
    SecretKey,
    Shape,
    TokenMaker,
    fingerprint,
    shape_of,
    texts_of,
)
from app.odata.reading.statement import Run, Statement
from app.odata.syntax import nodes
from app.odata.syntax.lexer import DEFAULT_LIMITS, Limits
from app.odata.syntax.options import OptionTexts, parse_filter, parse_options
from app.odata.syntax.path import PathText, parse_path, read_path

Locate = Callable[[PathText, OptionTexts, Limits], QueryError]
# What a condition about no rows is of; others may stand beside it by ``$root``.
_NOTHING = type_of_one_row("if")


class Reader:
    """Reads the entities of one container, for any caller, on any database."""

    def __init__(
        self, container: edm.EntityContainer, secret_key: SecretKey, *,
        limits: Limits = DEFAULT_LIMITS, max_depth: int = 5, page_sizes: PageSize = ODATA,
    ) -> None:  # fmt: skip
        self.container = container
        self.plans = PlanCache()
        self.tokens = TokenMaker(secret_key)
        self.page_sizes = page_sizes
        self.limits = limits
        self.max_depth = max_depth

    def read(self, request: ReadRequest, caller: Caller, connection: Connection) -> Answer:
        """The answer to a GET.

        Raises: InvalidQueryError, NotFoundError, ForbiddenError, NotAcceptableError,
            NotImplementedInServiceError.
        """
        with self._refusing(lambda: texts_of(request)):
            query = self._parse(request)
            shape = shape_of(query, caller, connection.dialect)
            plan = self._plan(shape)
            with self._locating(shape):
                answering = Answering(query, self.tokens)
                return plan.answer(self._values(shape), connection, answering)

    def holds(self, condition: str, caller: Caller, connection: Connection) -> bool:
        """Whether a condition about no rows is true: ``if`` in a batch (JSON Format 4.01, 19.1).

        Raises: InvalidQueryError, ForbiddenError, NotImplementedInServiceError.
        """
        texts = OptionTexts({"filter": condition}, {}, ())
        with self._refusing(lambda: (read_path(""), texts)), option("if"):
            scope = Scope(Context(self.container, caller), _NOTHING)
            node = parse_filter(condition, limits=self.limits)
            truth = case((Translator(scope.context, scope).condition(node), 1), else_=0)
            statement = Statement(scope.select(truth), connection.dialect, {})
            run = Run((), caller.user_id, container=self.container)
            return bool(statement.rows(connection, run)[0][0])

    def _parse(self, request: ReadRequest) -> Query:
        path, texts = texts_of(request)
        self.check_schema_version(texts)
        if texts.custom and request.preferences.handling == "strict":
            name = texts.custom[0][0]
            raise QueryError(f"unknown query option '{name}'", 0, name)
        format_, wanted = self._format(request, texts)
        token, start = texts.system.get("skiptoken"), None
        if token is not None:
            start = self.tokens.read(token, fingerprint(path.text, texts))
        page_size = self.page_sizes.of(request.preferences.max_page_size)
        return Query(request, path, texts, format_, wanted, start, page_size)

    def _plan(self, shape: Shape) -> Plan:
        """The plan of a shape: kept, or made and put there.

        Raises: NotAcceptableError, the client takes no JSON; whatever binding refuses.
        """
        plans, literals, wanted = self.plans, shape.literals, shape.query.wanted
        plan = plans.find(shape.key, literals) or plans.find(shape.exact, literals)
        plans.hits += plan is not None
        if plan is None:
            plans.misses += 1
            plan = self._make(shape)
            is_lifted = plan.slots().issuperset(range(len(literals)))
            plans.keep(shape.key if is_lifted else shape.exact, plan)
        if wanted is not None and plan.is_json:
            raise refusal(wanted, "application/json")
        return plan

    def _make(self, shape: Shape) -> Plan:
        return make_plan(self.container, shape, limits=self.limits, max_depth=self.max_depth)

    def _values(self, shape: Shape) -> Run:
        """What the plan of a shape is run with."""
        query, most = shape.query, EXPANDED
        return Run(
            shape.literals,
            shape.caller.user_id,
            page=query.page_size,
            start=query.start,
            expanded=most if query.request.pages_alone else min(query.page_size, most),
            container=self.container,
        )

    def _format(self, request: ReadRequest, texts: OptionTexts) -> tuple[Format, str | None]:
        """The form of JSON, and the types that are welcome where JSON is none of them."""
        headers, form = request.headers, texts.system.get("format")
        namespace, wanted = self.container.namespace, None
        try:
            format_ = form_for(headers, form, namespace=namespace)
        except NotAcceptableError:  # it may be right for what turns out to be no JSON
            format_ = form_for(headers, accept=False, namespace=namespace)
            wanted = texts.system.get("format", headers.get("Accept", ""))
            if not wanted:
                raise
        preferences = request.preferences
        if preferences is not NO_PREFERENCES:
            format_ = format_._replace(
                omit_nulls=preferences.omit_values == "nulls",
                currencies=preferences.includes(MEASURES, "Measures", "ISOCurrency"),
            )
        return (format_._replace(mixed=True) if request.mixed else format_), wanted

    @contextmanager
    def _locating(self, shape: Shape) -> Iterator[None]:
        """Say an error of this query: a plan that was kept has the offsets of another."""
        try:
            yield
        except QueryError:
            self._make(shape)
            raise

    @contextmanager
    def _refusing(self, texts: Callable[[], tuple[PathText, OptionTexts]]) -> Iterator[None]:
        """Say what is wrong with a query, what only the database can tell included."""
        try:
            yield
        except UnsupportedError as error:
            raise NotImplementedInServiceError(str(error), position=error.offset) from error
        except QueryError as error:
            raise InvalidQueryError(str(error), position=error.offset) from error
        except (RecursionError, DBAPIError) as error:
            if locate := _locator(error):
                located = locate(*texts(), self.limits)
                raise InvalidQueryError(str(located), position=located.offset) from error
            if _is_late(error):
                problem = "The query takes too long: narrow it, or ask for less."
                raise InvalidQueryError(problem) from error
            raise

    def check_schema_version(self, texts: OptionTexts) -> None:
        version = texts.system.get("schemaversion", "*")
        if version not in ("*", self.container.schema_version):
            raise NotFoundError(f"The schema version {version} does not exist.")


def _locator(error: RecursionError | DBAPIError) -> Locate | None:
    """Who finds what a query did wrong that only the database can tell; None where it did not."""
    if isinstance(error, RecursionError):
        return too_deep
    text = str(error.orig)
    if isinstance(error, DataError) or "user-defined function" in text:
        return out_of_range
    return too_deep if text == "parser stack overflow" else None


def _is_late(error: RecursionError | DBAPIError) -> bool:
    cause = getattr(error, "orig", None)
    return str(cause) == "interrupted" or getattr(cause, "sqlstate", None) == "57014"


# --- what only the database can refuse: where a query asks for it

_CALCULATIONS = frozenset(("add", "sub", "mul", "div", "divby", "mod"))
_METHODS = frozenset(("sum", "average"))
# An option of the query string, None for the path, and a node of it with what it stands in.
_Place = tuple[str | None, nodes.Node, int]


def out_of_range(path: PathText, texts: OptionTexts, limits: Limits) -> QueryError:
    """The error that a result is out of range, with the first calculation that may have it."""
    places = [
        (option, node) for option, node, _ in _places(path, texts, limits) if _calculates(node)
    ]
    if not places:
        return QueryError("A value in the query is out of range.")
    option, node = min(
        places, key=lambda location: (location[0] != places[0][0], location[1].offset)
    )
    which = "the result" if len(places) == 1 else "the result here or of a later calculation"
    return QueryError(f"{which} is out of range", node.offset, option)


def too_deep(path: PathText, texts: OptionTexts, limits: Limits) -> QueryError:
    """The error that the database takes no query that is nested so deep, with the deepest part."""
    option, node, _ = max(_places(path, texts, limits), key=lambda location: location[2])
    return QueryError("the query is nested too deep", node.offset, option)


def _calculates(node: nodes.Node) -> bool:
    match node:
        case nodes.Binary(op=op):
            return op in _CALCULATIONS
        case nodes.Unary(op=op):
            return op == "neg"
        case nodes.AggregateItem(method=method):
            return method in _METHODS
        case nodes.Call(name=name):
            return "." in name
    return isinstance(node, nodes.BoundCall)


def _places(path: PathText, texts: OptionTexts, limits: Limits) -> Iterator[_Place]:
    """Every part of the path and of the options, in the order of the options' fields."""
    for segment in parse_path(path, limits=limits).segments:
        yield from _below(None, segment)
    options = parse_options(texts, limits=limits)
    for name in (field.name for field in fields(options) if field.name != "aliases"):
        for node in nodes.children(nodes.QueryOptions(**{name: getattr(options, name)})):
            yield from _below(f"${name}", node)
    for name, node in options.aliases.items():
        yield from _below(f"@{name}", node)


def _below(option: str | None, root: nodes.Node) -> Iterator[_Place]:
    yield option, root, 0
    yield from ((option, node, depth) for node, depth in nodes.descendants(root))

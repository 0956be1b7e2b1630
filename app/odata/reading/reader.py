"""GET through OData: from the text of a request to the bytes of its answer."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

from sqlalchemy import Connection, Dialect, case, literal, select
from sqlalchemy.exc import DataError, DBAPIError

from app.errors import (
    InvalidQueryError,
    NotAcceptableError,
    NotFoundError,
    NotImplementedInServiceError,
)
from app.http.page_sizes import ODATA, PageSize
from app.http.security import Caller
from app.odata.binding.context import Context
from app.odata.binding.translator import Translator
from app.odata.binding.values import Scope
from app.odata.csdl.annotations import MEASURES
from app.odata.errors import QueryError, UnsupportedError, option
from app.odata.model import edm
from app.odata.protocol.negotiation import Format, form_for, refusal, takes
from app.odata.protocol.preferences import NO_PREFERENCES
from app.odata.protocol.request import ReadRequest
from app.odata.reading.answers import Answer, Answering
from app.odata.reading.error_location import out_of_range, too_deep
from app.odata.reading.plan import NOT_JSON, Plan, PlanCache
from app.odata.reading.planner import Paging, make_plan
from app.odata.reading.statement import Run, Statement
from app.odata.reading.tokens import PageStart, SecretKey, TokenMaker, fingerprint
from app.odata.syntax.lexer import DEFAULT_LIMITS, Limits
from app.odata.syntax.nodes import LiteralValue
from app.odata.syntax.options import OptionTexts, parse_filter, read_options, shape_options
from app.odata.syntax.path import PathText, read_path, shape_path, with_keys

Locate = Callable[[PathText, OptionTexts, Limits], QueryError]
# What a condition about no rows is of; others may stand beside it by ``$root``.
_NOTHING = edm.EntityType(
    name="if", table=select(literal(1).label("row")).subquery(), key=(), properties={}
)


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
        with self._refusing(lambda: _texts(request)):
            return self._read(request, caller, connection)

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

    def _read(self, request: ReadRequest, caller: Caller, connection: Connection) -> Answer:
        path, texts = _texts(request)
        self.check_schema_version(texts)
        if texts.custom and request.preferences.handling == "strict":
            name = texts.custom[0][0]
            raise QueryError(f"unknown query option '{name}'", 0, name)
        headers = request.headers
        wanted: str | None = None
        try:
            format_ = self._format(request, texts)
        except NotAcceptableError:  # it may be right for what turns out to be no JSON
            format_ = self._format(request, texts.without("format"), accept=False)
            wanted = texts.system.get("format", headers.get("Accept", ""))
            if not wanted:
                raise
        start = None
        if "skiptoken" in texts.system:
            token = texts.system["skiptoken"]
            start = self.tokens.read(token, fingerprint(path.text, texts))
        answering = Answering(
            request,
            format_,
            texts,
            lambda start: self.tokens.make(start, fingerprint(path.text, texts)),
            self._token_of,
            self.page_sizes,
        )
        paging = _paging(texts, start, answering.page_size)
        lookup = _Lookup(self, path, texts, format_, caller, connection.dialect, paging)
        if wanted is not None and lookup.plan.kind not in NOT_JSON:
            raise refusal(wanted, "application/json")
        run = Run(lookup.literals, caller.user_id, container=self.container)
        try:
            answer = answering.answer(lookup.plan, run, connection, start)
        except QueryError:
            if lookup.is_hit:  # the error has the offset of another query: say it of this one
                lookup.make()
            raise
        if wanted is not None and answer.status == 200:
            if answer.media is not None:
                return replace(answer, wanted=wanted)
            offered = dict(answer.headers)["Content-Type"]
            if not takes(wanted, offered):
                raise refusal(wanted, offered)
        return answer

    def _format(self, request: ReadRequest, texts: OptionTexts, *, accept: bool = True) -> Format:
        asked, namespace = texts.system.get("format"), self.container.namespace
        format_ = form_for(request.headers, asked, accept=accept, namespace=namespace)
        wanted = request.preferences
        if wanted is not NO_PREFERENCES:
            format_ = format_._replace(
                omit_nulls=wanted.omit_values == "nulls",
                currencies=wanted.includes(MEASURES, "Measures", "ISOCurrency"),
            )
        return format_._replace(mixed=True) if request.mixed else format_

    def _token_of(self, path: str, query: str, start: PageStart) -> str:
        """The token of a page of another query."""
        text = read_path(with_keys(path)).text
        return self.tokens.make(start, fingerprint(text, read_options(query)))

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
        asked = texts.system.get("schemaversion", "*")
        if asked not in ("*", self.container.schema_version):
            raise NotFoundError(f"The schema version {asked} does not exist.")


def _texts(request: ReadRequest) -> tuple[PathText, OptionTexts]:
    query = request.query
    path = read_path(with_keys(request.path))
    return path, query if isinstance(query, OptionTexts) else read_options(query)


def _paging(texts: OptionTexts, start: PageStart | None, page_size: int) -> Paging:
    if start is not None:
        return tuple(value is None for value in start.after)
    top = texts.system.get("top", "")
    return "whole" if top.isdecimal() and len(top) < 19 and int(top) <= page_size else ()


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


class _Lookup:
    """The plan of a request: out of the cache, or made and put there."""

    def __init__(
        self, reader: Reader, path: PathText, texts: OptionTexts, format_: Format, caller: Caller,
        dialect: Dialect, paging: Paging,
    ) -> None:  # fmt: skip
        shape, literals = shape_path(path)
        options = shape_options(texts)
        self.literals: Sequence[LiteralValue] = [*literals, *options.literals]
        self.make = partial(
            make_plan,
            reader.container,
            path,
            texts,
            format_,
            caller,
            dialect,
            paging,
            limits=reader.limits,
            max_depth=reader.max_depth,
        )
        plans = reader.plans
        common = (format_, caller.profile, dialect.name, paging)
        shaped = (shape, options.key, common)
        plan = plans.find(shaped, self.literals)
        if plan is None:
            exact = (path.marked, _exact(texts), common)
            plan = plans.find(exact, self.literals)
        self.is_hit = plan is not None
        plans.count(hit=self.is_hit)
        if plan is None:
            plan = self.make()
            lifted = plan.slots().issuperset(range(len(self.literals)))
            plans.keep(shaped if lifted else exact, plan)
        self.plan: Plan = plan


def _exact(texts: OptionTexts) -> tuple[Hashable, ...]:
    """The options as they were written, but for those that do not matter to a plan."""
    system = tuple(pair for pair in texts.system.items() if pair[0] not in ("skiptoken", "format"))
    return system, tuple(texts.aliases.items())

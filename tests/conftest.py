"""What every test may ask for: an application on each database, a client, a session."""

from __future__ import annotations

import gc
import os
import shutil
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from jinja2 import BytecodeCache, FileSystemBytecodeCache
from sqlalchemy.orm import Session

from app.bi.questions.names import kept_lists
from app.config import Config
from app.db.engines import read_engine, transaction
from app.extensions import configuration
from app.factory import create_app
from app.http.limits import rate_limits
from tests.costs import Costs
from tests.databases import Cleaner, close_engines, drop_database
from tests.forms import FORMS, divide, few_examples, fold
from tests.made_once import embed_once
from tests.measured import measure_what_tests_start
from tests.migrated import MigratedDatabases, template_of
from tests.object_store import object_store
from tests.secret_watch import SecretWatch
from tests.services import SERVICES, required

UNLIMITED = "1000000/minute"
OTHER_FORM = "the other form"
MEMORY = Path("/dev/shm")
NEEDED_MEMORY = 4_000_000_000  # bytes
YOUNG_OBJECTS = 100_000  # so many more are allocated than freed before they are looked through

Once = Callable[[Hashable, Callable[[], Any]], Any]
KeepApp = Callable[..., Flask]


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "both_databases: in the short form too (tests/forms.py)")
    config.addinivalue_line("markers", "costly(n): every n-th case is in the short form; none of 0")
    config.addinivalue_line("markers", "needs(*names): only where these services answer")
    config.addinivalue_line("markers", "only_on(*databases): not on the other database")
    config.addinivalue_line("markers", "requirement(*numbers): what the test proves")
    gc.disable()  # until all is collected: nothing of it goes
    if (form := config.getoption("form")) != "all":
        few_examples(form)
    measure_what_tests_start()
    embed_once()
    keep_temporary_files_in_memory()
    if depth := config.getoption("costs"):
        config.pluginmanager.register(Costs(depth), "costs")
    watch = SecretWatch()
    watch.watch()
    config.pluginmanager.register(watch, "secret-watch")
    away = [SERVICES[name] for name in required(os.environ) if SERVICES[name].problem]
    if away:
        names = ", ".join(f"{service.label} at {service.place}" for service in away)
        raise pytest.UsageError(f"REQUIRE_SERVICES=1, but nothing answers: {names}")


def keep_temporary_files_in_memory() -> None:
    """Files of databases are synced at every commit, which costs nothing where there is no disk."""
    if MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > NEEDED_MEMORY:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Whatever uses the database runs on both, unless it says which."""
    if "database" not in metafunc.fixturenames:
        return
    mark = metafunc.definition.get_closest_marker("only_on")
    kinds = mark.args if mark else ("sqlite", "postgresql")
    metafunc.parametrize("database", kinds, indirect=True, scope="session")


LEFT_OUT: Counter[str] = Counter()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--form", choices=FORMS, default="all", help="see tests/forms.py")
    parser.addoption(
        "--costs", type=int, metavar="DEPTH", default=0,
        help="CPU seconds by the first DEPTH parts of the path; see tests/costs.py",
    )  # fmt: skip


@pytest.hookimpl(tryfirst=True)  # the other hooks then have fewer to look at
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what needs a service that is away, and what the other form has."""
    away = {name for name, service in SERVICES.items() if service.problem}
    kept, left_out = [], []
    for item in items:
        missing = sorted(away & needs(item))
        LEFT_OUT.update(missing)
        (left_out if missing else kept).append(item)
    form = config.getoption("form")
    if form != "all":
        forms = divide(kept)
        chosen, other = (forms.short, forms.rest) if form == "short" else (forms.rest, forms.short)
        LEFT_OUT[OTHER_FORM] = len(other - chosen)
        left_out += [item for item in kept if item not in chosen]
        kept = fold(item for item in kept if item in chosen)
    if left_out:
        config.hook.pytest_deselected(items=left_out)
    items[:] = kept


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """A third of the time a test waits, for a process, a pause or a database: half as many more."""
    return len(os.sched_getaffinity(0)) * 3 // 2


def pytest_collection_finish() -> None:
    """What was imported and collected stays: the garbage collector does not go through it again.

    And it looks seldom: by the interpreter's own 700 it took a tenth of the time of the tests.
    """
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS)
    gc.enable()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A worker of xdist collects, and says to the process that reports what it left out."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["left_out"] = dict(LEFT_OUT)
    elif not SERVICES["postgresql"].problem:
        drop_database(template_of(str(os.getpid())))


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """A worker of xdist is told whose it is."""
    node.workerinput["run"] = str(os.getpid())


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Every worker collects the same."""
    LEFT_OUT.update(getattr(node, "workeroutput", {}).get("left_out", {}) if not LEFT_OUT else {})


def needs(item: pytest.Item) -> set[str]:
    """The services that a test cannot do without."""
    named = {name for mark in item.iter_markers("needs") for name in mark.args}
    callspec = getattr(item, "callspec", None)
    return named | (
        {callspec.params["database"]} if callspec and "database" in callspec.params else set()
    )


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    ran = ["SQLite", *(service.label for service in SERVICES.values() if not service.problem)]
    if SERVICES["s3"].problem:
        ran.append("S3 (moto, on loopback)")
    terminalreporter.write_line(f"ran with: {', '.join(ran)}")
    for name, service in SERVICES.items():
        if service.problem and name != "s3":
            count = f": {LEFT_OUT[name]} tests" if LEFT_OUT[name] else ""
            terminalreporter.write_line(
                f"left out: {service.label} (no server at {service.place}){count}"
            )
    form = terminalreporter.config.getoption("form")
    if form != "all":
        has_them = {"short": "make test-all", "rest": "make test"}[form]
        count = LEFT_OUT[OTHER_FORM]
        terminalreporter.write_line(f"left to {has_them}: {count} tests, by tests/forms.py")


@pytest.fixture(scope="session")
def run_folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all processes of the run share."""
    folder = tmp_path_factory.getbasetemp()
    return folder.parent if hasattr(request.config, "workerinput") else folder


@pytest.fixture(scope="session")
def migrated(request: pytest.FixtureRequest, run_folder: Path) -> MigratedDatabases:
    """Makes migrated databases."""
    worker = getattr(request.config, "workerinput", {})
    return MigratedDatabases(run_folder, worker.get("run", str(os.getpid())))


@pytest.fixture(scope="session")
def templates(run_folder: Path) -> BytecodeCache:
    """The templates of pages as they were compiled once in the run."""
    folder = run_folder / "templates"
    folder.mkdir(exist_ok=True)
    return FileSystemBytecodeCache(str(folder))


@pytest.fixture(scope="session")
def database(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    migrated: MigratedDatabases,
) -> Iterator[str]:
    """The address of a migrated database of this run's own."""
    folder = tmp_path_factory.mktemp("database")
    with migrated.new(request.param, folder, "business_platform_test") as url:
        yield url


@pytest.fixture(scope="session")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the applications of the tests keep files."""
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="session")
def s3_url() -> Iterator[str]:
    """``s3://bucket/prefix`` on a server of this run."""
    with object_store() as url:
        yield url


@pytest.fixture(scope="session")
def build_app(database: str, data_dir: Path, templates: BytecodeCache) -> Callable[..., Flask]:
    """Build an application with settings of its own: ``build_app(RATE_LIMIT_USER="3/minute")``."""

    def build(**settings: Any) -> Flask:
        defaults = {
            "SECRET_KEY": "not-a-secret-only-for-the-tests-of-this-run",
            "DATA_DIR": data_dir,
            "SQLALCHEMY_DATABASE_URI": database,
            "STORAGE_URL": f"file://{data_dir / 'files'}",
            "MAIL_URL": f"file://{data_dir / 'mail'}",
            "RATE_LIMIT_USER": UNLIMITED,
            "RATE_LIMIT_API_KEY": UNLIMITED,
            "RATE_LIMIT_AUTH": UNLIMITED,
            "TESTING": True,
        }
        app = create_app(Config(**{**defaults, **settings}))
        app.jinja_env.bytecode_cache = templates
        return app

    return build


@pytest.fixture(scope="session")
def shared_app(build_app: Callable[..., Flask]) -> Iterator[tuple[Flask, Cleaner]]:
    """One application for all tests: building it takes longer than most of them."""
    app = build_app()
    yield app, Cleaner(app)
    close_engines(app)


@pytest.fixture
def app(shared_app: tuple[Flask, Cleaner]) -> Iterator[Flask]:
    """The application on an empty database."""
    application, cleaner = shared_app
    yield application
    cleaner.clean()
    kept_lists.unbind(application)  # names of records that are no longer there


@pytest.fixture
def once(app: Flask, shared_app: tuple[Flask, Cleaner]) -> Once:
    """``once("a small business", write)``: see ``Cleaner.once``."""
    return shared_app[1].once


@pytest.fixture
def make_app(
    app: Flask, shared_app: tuple[Flask, Cleaner], build_app: Callable[..., Flask]
) -> Iterator[Callable[..., Flask]]:
    """More applications on the same database, each with settings of its own."""
    made: list[Flask] = []

    def make(**settings: Any) -> Flask:
        made.append(build_app(**settings))
        shared_app[1].watch(made[-1])
        return made[-1]

    yield make
    for application in made:
        close_engines(application)


@pytest.fixture(scope="session")
def kept_apps(
    shared_app: tuple[Flask, Cleaner], build_app: Callable[..., Flask]
) -> Iterator[KeepApp]:
    kept: dict[Hashable, Flask] = {}

    def keep(
        prepare: Callable[[Flask], None] | None = None, number: int = 1, **settings: Any
    ) -> Flask:
        key = (prepare, number, *sorted(settings.items()))
        if key not in kept:
            kept[key] = build_app(**settings)
            if prepare:
                prepare(kept[key])
            shared_app[1].watch(kept[key])
        return kept[key]

    yield keep
    for application in kept.values():
        close_engines(application)


@pytest.fixture
def keep_app(app: Flask, kept_apps: KeepApp) -> Iterator[KeepApp]:
    """More applications on the same database that are made once: a test leaves but rows in them.

    ``keep_app(add_views, 2, BASE_URL="https://x")`` is the second with these views and settings.
    Requests that earlier tests made count for no limit.
    """
    used: list[Flask] = []

    def keep(
        prepare: Callable[[Flask], None] | None = None, number: int = 1, **settings: Any
    ) -> Flask:
        used.append(kept_apps(prepare, number, **settings))
        return used[-1]

    yield keep
    for application in used:
        if configuration.of(application).REDIS_URL is None:
            rate_limits.of(application).limiter.reset()


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    """An HTTP client without credentials."""
    return app.test_client()


@pytest.fixture
def session(app: Flask) -> Iterator[Session]:
    """For looking at what was committed; it reads only, and never waits for a writer."""
    with app.app_context():
        engine = read_engine()
    with Session(engine) as reading:
        yield reading


@pytest.fixture
def unit_of_work(app: Flask) -> Callable[[], AbstractContextManager[Any]]:
    """``with unit_of_work() as session:`` runs in one transaction, committed at the end."""

    @contextmanager
    def begin() -> Iterator[Any]:
        with app.app_context(), transaction() as writing:
            yield writing

    return begin

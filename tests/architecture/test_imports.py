"""Which way imports point: routes -> service -> models -> extensions, never back, never round."""

from __future__ import annotations

import ast

from tests.architecture.graph import circles, private_names, upward
from tests.architecture.modules import imports, nodes_of, sources

# Below everything: may be imported by anybody, import nobody above.
AREAS = (
    "auth", "admin", "crm", "invoices", "tickets", "kb", "documents", "projects", "ai", "bi",
    "webhooks",
)  # fmt: skip


def inside(module: str, *packages: str) -> bool:
    """Whether ``module`` is one of ``packages`` or lies in one."""
    return any(module == package or module.startswith(package + ".") for package in packages)


# Loaded by whoever first needs them, for their weight; never against a cycle, see the next test.
HEAVY = {
    "app.bi.questions.answering", "app.db.postgresql",
    "app.invoices.pdf.logo", "app.invoices.pdf.render", "app.outbound.client",
    "app.search.index_cache", "app.search.ranking", "app.start.bootstrap", "app.tracing.spans",
}  # fmt: skip


def test_only_what_is_heavy_is_imported_inside_a_function() -> None:
    assert {each.imported for each in imports() if each.late} == HEAVY


def test_no_cycle() -> None:
    assert circles() == []


def test_rooms_of_the_query_engine_stand_one_upon_the_other() -> None:
    assert upward() == []


def test_no_private_name_of_a_library_is_used() -> None:
    assert list(private_names()) == []


def test_models_know_no_request_and_no_service() -> None:
    allowed = ("app.models", "app.db.types", "app.extensions", "app.db.partial_index")
    assert [
        each
        for each in imports()
        if inside(each.importer, "app.models") and not inside(each.imported, *allowed)
    ] == []


def test_models_import_no_flask() -> None:
    for name, tree in sources().items():
        if inside(name, "app.models"):
            modules = {getattr(node, "module", None) or "" for node in tree.body}
            assert not {module for module in modules if module.startswith("flask")}, name


def test_the_query_engine_knows_nothing_of_the_business() -> None:
    business = ("app.models", "app.container", "app.writing", *(f"app.{area}" for area in AREAS))
    assert [
        each
        for each in imports()
        if inside(each.importer, "app.odata") and inside(each.imported, *business)
    ] == []


def test_only_routes_import_routes() -> None:
    edges = ("app.factory", "app.http.areas", "app.openapi")
    assert [
        each
        for each in imports()
        if each.imported.rpartition(".")[2] == "routes"
        and each.importer.rpartition(".")[2] != "routes"
        and not inside(each.importer, *edges)
    ] == []


def test_schemas_know_the_wire_and_not_the_database() -> None:
    assert [
        each
        for each in imports()
        if each.importer.rpartition(".")[2] == "schemas"
        and inside(each.imported, "app.db.records", "app.extensions", "app.db.engines")
    ] == []


def test_what_an_application_has_is_asked_of_its_extension_object_and_not_by_name() -> None:
    assert {
        name
        for name, tree in sources().items()
        for node in nodes_of(tree)
        if isinstance(node, ast.Attribute) and node.attr == "extensions"
    } == {"app.extensions"}

"""What the sources themselves promise: how they are set up, and what they never do."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.modules import ROOT, nodes_of, sources

FORBIDDEN = {
    "eval", "exec", "compile", "__import__", "pickle.loads", "pickle.load", "yaml.load",
    "marshal.loads", "os.system", "os.popen", "shelve.open",
}  # fmt: skip
# Bandit takes 20 seconds: the short form gives it every eighth file, and the rest the others.
PORTIONS = 8
# Keys, tokens and passwords that look real.
SECRETS = re.compile(
    rb"-----BEGIN [A-Z ]*PRIVATE KEY-----\s+[A-Za-z0-9+/]{40}|AKIA[0-9A-Z]{16}|ghp_[0-9A-Za-z]{36}"
    rb"|xox[bp]-[0-9A-Za-z-]{20,}|sk-[A-Za-z0-9]{40,}|sk_live_[0-9A-Za-z]{20,}"
    rb"|bpk_live_[0-9A-Za-z]{40,}|AIza[0-9A-Za-z_-]{35}"
)


def setting(name: str) -> ast.expr:
    """What ``gunicorn.conf.py`` sets ``name`` to."""
    tree = ast.parse((ROOT / "gunicorn.conf.py").read_text(encoding="utf-8"))
    (found,) = [
        node.value
        for node in nodes_of(tree)
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name
    ]
    return found


def number(name: str) -> int:
    return int(ast.literal_eval(setting(name)))


@pytest.mark.requirement("OPS-08")
def test_the_server_opens_no_control_socket() -> None:
    assert ast.literal_eval(setting("control_socket_disable")) is True


@pytest.mark.requirement("OPS-09")
def test_processes_are_renewed_with_jitter_and_end_after_the_longest_answer() -> None:
    assert number("max_requests") > 0
    assert number("max_requests_jitter") > 0
    assert number("timeout") > number("graceful_timeout") >= 30


@pytest.mark.requirement("OPS-12")
@pytest.mark.parametrize("path", sorted(ROOT.glob("requirements*.txt")), ids=lambda path: path.stem)
def test_every_dependency_is_pinned_with_hashes(path: Path) -> None:
    text = re.sub(r"(?m)^\s*#.*\n", "", path.read_text(encoding="utf-8")).strip()
    pins = re.split(r"\n(?=[A-Za-z0-9])", text)
    assert len(pins) > 10
    for pin in pins:
        assert re.match(r"[A-Za-z0-9._-]+(\[[a-z0-9,_-]+\])?==", pin), pin
        assert "--hash=sha256:" in pin, pin


@pytest.mark.requirement("OPS-13")
@pytest.mark.costly(PORTIONS)
@pytest.mark.parametrize("portion", range(PORTIONS))
def test_bandit_finds_nothing(portion: int) -> None:
    files = sorted(str(path) for path in (ROOT / "app").rglob("*.py"))[portion::PORTIONS]
    found = subprocess.run(
        [sys.executable, "-m", "bandit", "--quiet", "--ini", "setup.cfg", *files],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert found.returncode == 0, found.stdout


@pytest.mark.requirement("OPS-14")
def test_no_secret_is_in_the_repository() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False
    ).stdout.split(b"\0")
    files = [ROOT / name.decode() for name in listed if name] or list((ROOT / "app").rglob("*.py"))
    for path in files:
        if path.is_file() and path.stat().st_size < 2_000_000:
            assert SECRETS.findall(path.read_bytes()) == [], path
    assert not [path for path in files if path.name in (".env", "id_rsa", "secret_key")]


@pytest.mark.requirement("INS-03")
def test_random_values_come_from_secrets() -> None:
    """``random`` may jitter a pause and make up demo data, and never what nobody may guess."""
    jitter = ("app.demo", "app.webhooks", "app.ai.provider", "app.kb.indexing")
    for name, tree in sources().items():
        imported = {
            alias.name
            for node in nodes_of(tree)
            if isinstance(node, ast.Import)
            for alias in node.names
        } | {
            node.module
            for node in nodes_of(tree)
            if isinstance(node, ast.ImportFrom) and node.level == 0
        }
        if "random" in imported:
            assert name.startswith(jitter), name
        if name.startswith(("app.auth", "app.documents.sharing", "app.sealing")):
            assert not imported & {"random", "uuid"}, name


@pytest.mark.requirement("INS-07")
def test_nothing_is_evaluated_unpickled_or_given_to_a_shell() -> None:
    last_words = {name.rpartition(".")[2] for name in FORBIDDEN}
    for name, tree in sources().items():
        for node in nodes_of(tree):
            if not isinstance(node, ast.Call):
                continue
            last_word = getattr(node.func, "attr", getattr(node.func, "id", None))
            if last_word in last_words:
                assert ast.unparse(node.func) not in FORBIDDEN, f"{name}:{node.lineno}"
            for keyword in node.keywords:
                shell = keyword.arg == "shell" and ast.unparse(keyword.value) != "False"
                assert not shell, f"{name}:{node.lineno}"

"""Network namespaces as hosts: each with an address, on one bridge; needs Linux and root."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from bench.peers.processes import BenchError

BRIDGE = "bp-scaling"
NETWORK = "10.77.0"
OWN = f"{NETWORK}.1"


@dataclass(frozen=True)
class Host:
    """A host: processes started with ``prefix`` before their command are on it."""

    name: str
    address: str

    @property
    def prefix(self) -> tuple[str, ...]:
        """What puts a command there."""
        return ("ip", "netns", "exec", self.name)


@contextmanager
def network(*names: str) -> Iterator[list[Host]]:
    """Hosts with these names, reachable from each other and from here; gone at the end.

    Raises: BenchError, namespaces cannot be made here.
    """
    with ExitStack() as stack:
        _ip("link", "add", BRIDGE, "type", "bridge")
        stack.callback(_ip, "link", "del", BRIDGE)
        _ip("addr", "add", f"{OWN}/24", "dev", BRIDGE)
        _ip("link", "set", BRIDGE, "up")
        hosts = []
        for number, name in enumerate(names, 11):
            host = Host(f"bp-{name}", f"{NETWORK}.{number}")
            _ip("netns", "add", host.name)
            stack.callback(_ip, "netns", "del", host.name)
            outside, inside = f"bp-o{number}", f"bp-i{number}"
            _ip("link", "add", outside, "type", "veth", "peer", "name", inside)
            _ip("link", "set", outside, "master", BRIDGE, "up")
            _ip("link", "set", inside, "netns", host.name)
            _ip("-n", host.name, "addr", "add", f"{host.address}/24", "dev", inside)
            _ip("-n", host.name, "link", "set", inside, "up")
            _ip("-n", host.name, "link", "set", "lo", "up")
            hosts.append(host)
        yield hosts


def _ip(*words: str) -> None:
    done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise BenchError(f"ip {' '.join(words)}: {done.stderr.strip()}")

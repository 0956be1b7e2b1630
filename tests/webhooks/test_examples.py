"""The examples of docs/webhooks.md verify what the service sends, and refuse what it does not."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from standardwebhooks import WebhookVerificationError

from app.clock import utc_now
from app.webhooks.messages import envelope, new_message_id, new_secret, signed_headers
from tests.architecture.modules import ROOT

BODY = envelope("client.created", "2026-11-21T09:00:00.000Z", '{"object":{"name":"Čeladná"}}')


def example(language: str) -> str:
    page = (ROOT / "docs" / "webhooks.md").read_text("utf-8")
    (found,) = re.findall(rf"```{language}\n(.*?)```", page, re.DOTALL)
    return str(found)


def sent(*secrets: str) -> dict[str, str]:
    headers = signed_headers(secrets, new_message_id(), utc_now(), BODY)
    return {name.lower(): value for name, value in headers.items()}


def test_python_example_verifies() -> None:
    names: dict[str, Any] = {}
    exec(example("python"), names)
    old, new = new_secret(), new_secret()
    for secret in (old, new):
        received = names["receive"](secret, sent(new, old), BODY.encode())
        assert received["data"]["object"]["name"] == "Čeladná"
    for headers, body in ((sent(new_secret()), BODY), (sent(old), BODY + " ")):
        with pytest.raises(WebhookVerificationError):
            names["receive"](old, headers, body.encode())


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no node here")
def test_javascript_example_verifies() -> None:
    old, new = new_secret(), new_secret()
    late = {**sent(old), "webhook-timestamp": "1"}
    cases = [
        (old, sent(new, old), BODY), (new, sent(new, old), BODY),
        (old, sent(new), BODY), (old, sent(old), BODY + " "), (old, late, BODY),
    ]  # fmt: skip
    script = f"""{example("javascript")}
    for (const [secret, headers, body] of {json.dumps(cases)}) {{
      try {{ console.log(receive(secret, headers, body).data.object.name); }}
      catch (error) {{ console.log(error.message); }}
    }}"""
    done = subprocess.run(["node", "-e", script], capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines() == [
        "Čeladná", "Čeladná", "not signed by the service", "not signed by the service",
        "too old or too new",
    ], done.stderr  # fmt: skip


@pytest.mark.skipif(shutil.which("javac") is None, reason="there is no Java here")
def test_java_example_verifies(tmp_path: Path) -> None:
    old, new = new_secret(), new_secret()
    late = {**sent(old), "webhook-timestamp": "1"}
    cases = [
        (old, sent(new, old), BODY), (new, sent(new, old), BODY),
        (old, sent(new), BODY), (old, sent(old), BODY + " "), (old, late, BODY),
    ]  # fmt: skip
    calls = "\n".join(
        f"tell({json.dumps(secret)}, Map.of({_pairs(headers)}), {json.dumps(body)});"
        for secret, headers, body in cases
    )
    (tmp_path / "Receiver.java").write_text(
        f"""
        import java.nio.charset.StandardCharsets; import java.security.MessageDigest;
        import java.time.Instant; import java.util.Base64; import java.util.Map;
        import javax.crypto.Mac; import javax.crypto.spec.SecretKeySpec;
        public class Receiver {{
          {example("java")}
          static void tell(String secret, Map<String, String> headers, String body) {{
            try {{ receive(secret, headers, body); System.out.println("taken"); }}
            catch (Exception error) {{ System.out.println(error.getMessage()); }}
          }}
          public static void main(String[] given) {{ {calls} }}
        }}""",
        "utf-8",
    )
    run = ["java", "-Dfile.encoding=UTF-8", "Receiver.java"]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.stdout.splitlines() == [
        "taken", "taken", "not signed by the service", "not signed by the service",
        "too old or too new",
    ], done.stderr  # fmt: skip


def _pairs(headers: dict[str, str]) -> str:
    return ", ".join(json.dumps(text) for pair in headers.items() for text in pair)

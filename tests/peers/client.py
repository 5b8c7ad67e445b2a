"""Real clients as their owners run them. Nothing they ask for leaves this machine."""

import json
import os
import subprocess
import urllib.request
from typing import Any

from tests.peers.outside import ROOT
from tests.setup.person import Person

CLIENTS = ROOT / ".venv-clients" / "node_modules" / ".bin"
QUIET = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_TELEMETRY": "1",
    "ENABLE_TOOL_SEARCH": "false",
    "GEMINI_CLI_TRUST_WORKSPACE": "true",
    "KILO_DISABLE_AUTOUPDATE": "1",
    "KILO_DISABLE_DEFAULT_PLUGINS": "1",
    "KILO_DISABLE_LSP_DOWNLOAD": "1",
    "KILO_DISABLE_MODELS_FETCH": "1",
    "KILO_DISABLE_SESSION_INGEST": "1",
    "NO_COLOR": "1",
    "OPENCODE_DISABLE_AUTOUPDATE": "1",
    "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
    "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
    "OPENCODE_DISABLE_MODELS_FETCH": "1",
}


def call(server: str, path: str, body: dict[str, Any], key: str = "", *, method: str = "POST") -> Any:
    headers = {"Content-Type": "application/json"} | ({"X-API-Key": key} if key else {})
    request = urllib.request.Request(server + path, json.dumps(body).encode(), headers, method=method)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def run_client(person: Person, *words: str, **extra: str) -> subprocess.CompletedProcess[str]:
    """Run one as its owner would. Of this machine's variables it gets only the path."""
    program = CLIENTS / words[0]
    assert program.exists(), f"{program} is not there: `make peers` installs it"
    environment = QUIET | {"PATH": os.pathsep.join([str(CLIENTS), os.environ["PATH"]]), "HOME": str(person.home)} | extra
    passed_on = {name: value for name, value in person.environment().items() if name.startswith(("POSTOFFICE_", "PYTHONPATH"))}
    done = subprocess.run(
        [program, *words[1:]],
        cwd=person.work,
        env=environment | passed_on,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done

"""Real clients, set up by `postoffice setup`, find the office and use it. Nothing they ask for leaves this machine."""

import json
import os
import subprocess
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from postoffice.client.credentials import Credential, save
from postoffice.core.tools import PER_AGENT, toolset
from tests.peers.fake_model import Call, FakeModel, thinking
from tests.peers.outside import ROOT
from tests.serve.running import COMMAND, free_port, serving
from tests.setup.person import AGENT, Person

CLIENTS = ROOT / ".venv-clients" / "node_modules" / ".bin"
QUIET = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_TELEMETRY": "1",
    "ENABLE_TOOL_SEARCH": "false",
    "GEMINI_CLI_TRUST_WORKSPACE": "true",
    "NO_COLOR": "1",
}
SECRET = "the launch code is 0000"


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of an office that wants keys."""
    port, here = free_port(), tmp_path_factory.mktemp("guarded")
    arguments = ("serve", "--data", str(here), "--port", str(port), "--auth", "keys", "--log-level", "error")
    with serving(*COMMAND, *arguments, port=port, here=here):
        yield f"http://127.0.0.1:{port}"


@pytest.fixture(scope="module")
def keys(guarded: str) -> dict[str, str]:
    """The agents there are, who take mail from each other."""
    keys = {name: str(call(guarded, "/agents/register", {"name": name})["api_key"]) for name in (AGENT, "reviewer")}
    for key in keys.values():
        call(guarded, "/agents/me", {"allow_from": ["*"]}, key, method="PATCH")
    return keys


@pytest.fixture
def person(tmp_path: Path, guarded: str, keys: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Person:
    """Somebody whose agent has a key."""
    person = Person(tmp_path / "home", guarded)
    monkeypatch.setenv("POSTOFFICE_CREDENTIALS", str(person.home / "keys"))
    save(Credential(server=guarded, agent=AGENT, key=keys[AGENT]))
    return person


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


def ask_claude(person: Person, model: FakeModel, prompt: str) -> dict[str, Any]:
    tools = ",".join(f"mcp__mail__{tool}" for tool in toolset(PER_AGENT))
    words = ("claude", "-p", prompt, "--allowedTools", tools, "--output-format", "json")
    answer: dict[str, Any] = json.loads(run_client(person, *words, ANTHROPIC_BASE_URL=model.address, ANTHROPIC_API_KEY="none").stdout)
    return answer


def test_claude_code_sees_the_server(person: Person) -> None:
    person.setup("claude", "--yes")
    assert f"mail: {person.server}/agents/{AGENT}/mcp (HTTP) - ✔ Connected" in run_client(person, "claude", "mcp", "list").stdout
    person.setup("claude", "--undo", "--yes")
    assert "mail:" not in run_client(person, "claude", "mcp", "list").stdout


def test_claude_code_sends_receives_and_acks(person: Person, keys: dict[str, str]) -> None:
    person.setup("claude", "--yes")
    sent = call(person.server, "/messages/send", {"to": AGENT, "subject": "s", "content": "look, please"}, keys["reviewer"])
    script: list[Call | str] = [
        Call("mcp__mail__mailbox_receive", {}),
        Call("mcp__mail__mailbox_send", {"to": "reviewer", "content": "looked"}),
        Call("mcp__mail__mailbox_ack", {"message_id": sent["message_id"]}),
        "All done.",
    ]
    with thinking(script) as model:
        answer = ask_claude(person, model, "See to your mail.")
    assert (answer["is_error"], answer["result"]) == (False, "All done.")
    assert {f"mcp__mail__{tool}" for tool in toolset(PER_AGENT)} <= model.tools()
    assert "look, please" in model.said_to_it()
    status = call(person.server, "/agents/reviewer/mcp?tools=mailbox_status", plain("mailbox_status", sent["message_id"]), keys["reviewer"])
    assert "acked" in json.dumps(status)
    (got,) = call(person.server, "/messages/receive", {}, keys["reviewer"])["messages"]
    assert (got["from"], got["content"], got["from_verified"]) == (AGENT, "looked", True)


def plain(tool: str, message_id: str) -> dict[str, Any]:
    return {"tool": tool, "args": {"message_id": message_id}}


def test_claude_code_hears_of_mail_by_the_hook_and_reads_the_skill(person: Person, keys: dict[str, str]) -> None:
    person.setup("claude", "--hook", "--skill", "--yes")
    call(person.server, "/messages/pop", {"limit": 50}, keys[AGENT])
    call(person.server, "/messages/send", {"to": AGENT, "subject": "s", "content": SECRET}, keys["reviewer"])
    with thinking(["Noted."]) as model:
        ask_claude(person, model, "What is new?")
    said = model.said_to_it()
    assert f"Mail for {AGENT}: 1 waiting, from reviewer." in said
    assert SECRET not in said
    assert "mailbox: Mail to and from other agents." in json.dumps(model.asked[0])


def test_claude_code_is_kept_going_by_mail_that_came_while_it_worked(person: Person, keys: dict[str, str]) -> None:
    person.setup("claude", "--hook", "--yes")
    call(person.server, "/messages/pop", {"limit": 50}, keys[AGENT])
    # It writes to itself, which is mail that comes after the prompt and before the end.
    script: list[Call | str] = [Call("mcp__mail__mailbox_send", {"to": AGENT, "content": SECRET}), "Finished.", "Finished after all."]
    with thinking(script) as model:
        answer = ask_claude(person, model, "Work.")
    assert answer["result"] == "Finished after all."
    assert len(model.asked) == 3
    assert f"Mail for {AGENT}: 1 waiting, from {AGENT}." in model.said_to_it()


def test_codex_lists_the_server_with_its_variable(person: Person) -> None:
    person.setup("codex", "--yes")
    listed = run_client(person, "codex", "mcp", "list").stdout
    assert f"{person.server}/agents/{AGENT}/mcp" in listed
    transport = json.loads(run_client(person, "codex", "mcp", "get", "mail", "--json").stdout)["transport"]
    assert (transport["type"], transport["bearer_token_env_var"]) == ("streamable_http", "MAILBOX_API_KEY")


def test_gemini_cli_connects_to_the_server(person: Person) -> None:
    person.setup("gemini", "--yes")
    done = run_client(person, "gemini", "mcp", "list")
    assert f"mail: {person.server}/agents/{AGENT}/mcp (http) - Connected" in done.stdout + done.stderr

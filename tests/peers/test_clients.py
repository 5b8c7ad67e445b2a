"""Real clients, set up by `postoffice setup`, find the office and use it. Nothing they ask for leaves this machine."""

import json
import shutil
from collections.abc import Callable
from typing import Any

import pytest

from postoffice.core.tools import TOOLSETS
from tests.peers.client import call, run_client
from tests.peers.fake_model import Call, FakeModel, thinking
from tests.setup.person import AGENT, Person

SECRET = "the launch code is 0000"


def ask_claude(person: Person, model: FakeModel, prompt: str) -> dict[str, Any]:
    tools = ",".join(f"mcp__mail__{tool}" for tool in TOOLSETS["mail"])
    words = ("claude", "-p", prompt, "--allowedTools", tools, "--output-format", "json")
    # Else its only turn begins without our tools where the machine is too busy to start their server in time.
    patient = {"CLAUDE_CODE_MCP_STARTUP_WAIT_MS": "30000"}
    done = run_client(person, *words, ANTHROPIC_BASE_URL=model.address, ANTHROPIC_API_KEY="none", **patient)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def test_claude_code_sees_the_server(person: Person) -> None:
    person.setup("claude", "--yes")
    assert f"mail: {person.server}/mail/{AGENT} (HTTP) - ✔ Connected" in run_client(person, "claude", "mcp", "list").stdout
    person.setup("claude", "--undo", "--yes")
    assert "mail:" not in run_client(person, "claude", "mcp", "list").stdout


def test_claude_code_sends_receives_and_acks(person: Person, keys: dict[str, str]) -> None:
    person.setup("claude", "--yes")
    sent = call(person.server, "/messages/send", {"to": AGENT, "subject": "s", "content": "look, please"}, keys["reviewer"])
    script: list[Call | str] = [
        Call("mcp__mail__mail_get", {}),
        Call("mcp__mail__mail_send", {"to": "reviewer", "text": "looked"}),
        Call("mcp__mail__mail_done", {"ids": [sent["message_id"]]}),
        "All done.",
    ]
    with thinking(script) as model:
        answer = ask_claude(person, model, "See to your mail.")
    assert (answer["is_error"], answer["result"]) == (False, "All done.")
    assert {f"mcp__mail__{tool}" for tool in TOOLSETS["mail"]} <= model.tools()
    assert "look, please" in model.said_to_it()
    status = call(person.server, "/agents/reviewer/mcp?tools=mailbox_status", plain("mailbox_status", sent["message_id"]), keys["reviewer"])
    assert "acked" in json.dumps(status)
    (got,) = call(person.server, "/messages/receive", {}, keys["reviewer"])["messages"]
    assert (got["from"], got["content"], got["from_verified"]) == (AGENT, "looked", True)


def plain(tool: str, message_id: str) -> dict[str, Any]:
    return {"tool": tool, "args": {"message_id": message_id}}


def answer_of_claude(person: Person, model: FakeModel, prompt: str) -> str:
    return str(ask_claude(person, model, prompt)["result"])


def answer_of_gemini(person: Person, model: FakeModel, prompt: str) -> str:
    # Of its environment it hands on nothing called credentials or key: those of a person are where they usually are.
    shutil.copytree(person.home / "keys", person.home / ".config" / "postoffice" / "credentials")
    settings = person.path("gemini")
    settings.write_text(json.dumps(json.loads(settings.read_text()) | {"security": {"auth": {"selectedType": "gemini-api-key"}}}))
    words = ("gemini", "--yolo", "-m", "gemini-2.5-flash", "-p", prompt)
    return run_client(person, *words, GOOGLE_GEMINI_BASE_URL=model.address, GEMINI_API_KEY="none").stdout


hooked = pytest.mark.parametrize(("client", "answer_of"), [("claude", answer_of_claude), ("gemini", answer_of_gemini)])
Answer = Callable[[Person, FakeModel, str], str]


@hooked
def test_a_client_hears_of_mail_by_the_hook_with_a_prompt(person: Person, keys: dict[str, str], client: str, answer_of: Answer) -> None:
    person.setup(client, "--hook", "--skill", "--yes")
    call(person.server, "/messages/pop", {"limit": 50}, keys[AGENT])
    call(person.server, "/messages/send", {"to": AGENT, "subject": "s", "content": SECRET}, keys["reviewer"])
    with thinking(["Noted."]) as model:
        answer_of(person, model, "What is new?")
    told = "\n".join(model.told())
    assert "1 letter waits in your mailbox" in told
    assert SECRET not in told
    assert "Mail to and from other agents." in told


@hooked
def test_a_client_is_kept_going_by_mail_that_came_while_it_worked(
    person: Person, keys: dict[str, str], client: str, answer_of: Answer
) -> None:
    person.setup(client, "--hook", "--yes")
    call(person.server, "/messages/pop", {"limit": 50}, keys[AGENT])
    # It writes to itself, which is mail that comes after the prompt and before the end.
    script: list[Call | str] = [Call("mail_send", {"to": AGENT, "text": SECRET}), "Finished.", "Finished after all."]
    with thinking(script) as model:
        answer = answer_of(person, model, "Work.")
    assert "Finished after all." in answer
    assert len(model.asked) == 3
    assert "1 letter waits in your mailbox" in "\n".join(model.told())


def test_gemini_cli_at_work_hears_of_urgent_mail_before_its_next_step(person: Person, keys: dict[str, str]) -> None:
    person.setup("gemini", "--hook", "--yes")
    call(person.server, "/messages/pop", {"limit": 50}, keys[AGENT])
    script: list[Call | str] = [Call("mail_send", {"to": AGENT, "text": SECRET, "urgent": True}), "Finished.", "Finished after all."]
    with thinking(script) as model:
        answer_of_gemini(person, model, "Work.")
    assert "Urgent mail: 1 letter waits" in json.dumps(model.asked[1])


def test_codex_lists_the_server_with_its_variable(person: Person) -> None:
    person.setup("codex", "--yes")
    listed = run_client(person, "codex", "mcp", "list").stdout
    assert f"{person.server}/mail/{AGENT}" in listed
    transport = json.loads(run_client(person, "codex", "mcp", "get", "mail", "--json").stdout)["transport"]
    assert (transport["type"], transport["bearer_token_env_var"]) == ("streamable_http", "MAILBOX_API_KEY")


def test_gemini_cli_connects_to_the_server(person: Person) -> None:
    person.setup("gemini", "--yes")
    done = run_client(person, "gemini", "mcp", "list")
    assert f"mail: {person.server}/mail/{AGENT} (http) - Connected" in done.stdout + done.stderr

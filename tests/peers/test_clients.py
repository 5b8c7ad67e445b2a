"""Real clients, set up by `postoffice setup`, find the office and use it. Nothing they ask for leaves this machine."""

import json
from typing import Any

from postoffice.core.tools import TOOLSETS
from tests.peers.client import call, run_client
from tests.peers.fake_model import Call, FakeModel, thinking
from tests.setup.person import AGENT, Person

SECRET = "the launch code is 0000"


def ask_claude(person: Person, model: FakeModel, prompt: str) -> dict[str, Any]:
    tools = ",".join(f"mcp__mail__{tool}" for tool in TOOLSETS["mail"])
    words = ("claude", "-p", prompt, "--allowedTools", tools, "--output-format", "json")
    answer: dict[str, Any] = json.loads(run_client(person, *words, ANTHROPIC_BASE_URL=model.address, ANTHROPIC_API_KEY="none").stdout)
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
    script: list[Call | str] = [Call("mcp__mail__mail_send", {"to": AGENT, "text": SECRET}), "Finished.", "Finished after all."]
    with thinking(script) as model:
        answer = ask_claude(person, model, "Work.")
    assert answer["result"] == "Finished after all."
    assert len(model.asked) == 3
    assert f"Mail for {AGENT}: 1 waiting, from {AGENT}." in model.said_to_it()


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

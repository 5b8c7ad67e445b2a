"""The gateway's every answer, and what the relay makes of it."""

import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from postoffice.bridges.openclaw.gateway import Gateway as Client
from postoffice.bridges.openclaw.settings import RelaySettings
from postoffice.bridges.openclaw.transcript import reply_to
from postoffice.bridges.outcome import Away, Failed, Later, Replied, Silent, Unknown
from postoffice.cli.main import main
from postoffice.cli.openclaw import relay_settings
from postoffice.core.errors import BadSetting
from tests.bridges.openclaw.gateway import MAIN, TOKEN, Act, Gateway
from tests.serve.running import free_port


@pytest.fixture
def gateway() -> Iterator[Gateway]:
    running = Gateway()
    running.start()
    yield running
    running.stop()


def client(there: Gateway, **settings: Any) -> Client:
    return Client(RelaySettings(**{"server": "http://127.0.0.1:1", "token": TOKEN, "gateway": there.url} | settings))


@pytest.fixture
async def there(gateway: Gateway) -> AsyncIterator[Client]:
    async with client(gateway) as opened:
        yield opened


# sessions_send


async def test_a_reply_is_heard_and_the_call_is_made_as_the_facts_say(gateway: Gateway, there: Client) -> None:
    gateway.act = lambda _: Act(reply="  forty-two ")
    assert await there.ask(MAIN, "what is it?") == Replied("forty-two")
    assert gateway.asked == [(MAIN, "what is it?")]
    assert gateway.callers == {"agent:main:mailbox"}
    assert gateway.waits == {120}


async def test_a_reply_cut_in_the_middle_of_an_emoji_is_heard(gateway: Gateway, there: Client) -> None:
    gateway.act = lambda _: Act(reply="👋 and so \ud83d")
    assert await there.ask(MAIN, "x") == Replied("👋 and so ?")
    async with client(gateway, mode="chat") as chatting:
        assert await chatting.ask(MAIN, "x") == Replied("👋 and so ?")


@pytest.mark.parametrize("answer", ["<html>", "", '{"ok": true, "result": {"deta', "[" * 100_000])
async def test_an_answer_that_cannot_be_read_is_neither_yes_nor_no(
    gateway: Gateway, there: Client, monkeypatch: pytest.MonkeyPatch, answer: str
) -> None:
    monkeypatch.setattr(gateway, "answer", lambda *_: (200, answer))
    assert isinstance(await there.ask(MAIN, "x"), Unknown)
    assert isinstance(await there.probe(), Away)


ODD: list[object] = [None, 7, "x", [], {}, [None], ["x"], [[]], [{}], {"items": 7}]


@pytest.mark.parametrize("odd", ODD)
async def test_an_answer_of_another_form_ends_nothing(
    gateway: Gateway, there: Client, monkeypatch: pytest.MonkeyPatch, odd: object
) -> None:
    """Another version of the gateway: the relay goes on with the next message."""
    entry = {"role": "assistant", "content": "m4rk", "stopReason": odd}
    histories = [{"messages": odd}, {"pendingInputs": odd}, {"pendingInputs": {"items": odd}}, {"messages": [entry, entry]}]
    for details in histories:
        monkeypatch.setattr(gateway, "answer", lambda *_, details=details: (200, {"ok": True, "result": {"details": details}}))
        assert not isinstance(await there.find(MAIN, "m4rk", None), Away)
    async with client(gateway, mode="chat") as chatting:
        for choices in ([odd], [{"message": odd}], [{"message": {"content": odd}}]):
            monkeypatch.setattr(gateway, "answer", lambda *_, choices=choices: (200, {"choices": choices}))
            assert isinstance(await chatting.ask(MAIN, "x"), Replied | Silent | Unknown)


@pytest.mark.parametrize("status", ["accepted", "queued", "timeout"])
async def test_a_run_that_goes_on_is_answered_later(gateway: Gateway, there: Client, status: str) -> None:
    gateway.act = lambda _: Act(status=status)
    outcome = await there.ask(MAIN, "long work")
    assert isinstance(outcome, Later)
    assert outcome.run_id


async def test_an_error_inside_a_200_is_a_failure_with_its_reason(gateway: Gateway, there: Client) -> None:
    gateway.act = lambda _: Act(status="error", reply="the model fell over")
    assert await there.ask(MAIN, "x") == Failed("the model fell over")


@pytest.mark.parametrize("act", [Act(status="no_reply"), Act(reply="NO_REPLY"), Act(reply="  ")])
async def test_an_agent_may_say_nothing(gateway: Gateway, there: Client, act: Act) -> None:
    gateway.act = lambda _: act
    assert await there.ask(MAIN, "x") == Silent()


async def test_forbidden_names_the_settings(gateway: Gateway, there: Client) -> None:
    gateway.act = lambda _: Act(status="forbidden", reply="visibility is restricted")
    outcome = await there.ask(MAIN, "x")
    assert isinstance(outcome, Away)
    assert "visibility is restricted" in outcome.why
    assert "tools.sessions.visibility" in outcome.why


async def test_a_tool_that_is_not_allowed_names_the_exact_setting(gateway: Gateway, there: Client) -> None:
    gateway.allowed = set()
    for outcome in (await there.ask(MAIN, "x"), await there.probe()):
        assert isinstance(outcome, Away)
        assert "Tool not available: sessions_send" in outcome.why
        assert 'add "sessions_send" to gateway.tools.allow' in outcome.why
    assert gateway.asked == []


async def test_a_wrong_token_is_told_without_showing_it(gateway: Gateway) -> None:
    async with client(gateway, token="wrong-secret") as there:
        for outcome in (await there.ask(MAIN, "x"), await there.probe()):
            assert isinstance(outcome, Away)
            assert "OPENCLAW_GATEWAY_TOKEN" in outcome.why
            assert "wrong-secret" not in outcome.why


async def test_a_gateway_that_repeats_our_token_is_not_repeated(gateway: Gateway, there: Client) -> None:
    gateway.act = lambda _: Act(status="error", reply=f"bad header Bearer {TOKEN}")
    assert await there.ask(MAIN, "x") == Failed("bad header Bearer …")


async def test_nobody_there_is_away() -> None:
    async with client(Gateway(), gateway=f"http://127.0.0.1:{free_port()}") as there:
        outcome = await there.ask(MAIN, "x")
        assert isinstance(outcome, Away)
        assert "no OpenClaw gateway answers" in outcome.why
        assert isinstance(await there.probe(), Away)


async def test_a_line_cut_off_in_the_middle_is_neither_yes_nor_no(gateway: Gateway, there: Client) -> None:
    gateway.act = lambda _: Act(hang_up=True)
    assert isinstance(await there.ask(MAIN, "x"), Unknown)


async def test_a_session_that_is_not_there_is_a_failure(there: Client) -> None:
    assert await there.ask("agent:main:nowhere", "x") == Failed("No session found: agent:main:nowhere")


async def test_a_server_that_is_no_gateway_is_told_so(gateway: Gateway, there: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gateway, "answer", lambda *_: (404, "Not Found"))
    outcome = await there.probe()
    assert isinstance(outcome, Away)
    assert "is no OpenClaw gateway" in outcome.why


@pytest.mark.parametrize(("status", "kind"), [(503, Away), (429, Away), (403, Away), (500, Failed), (400, Failed)])
async def test_other_statuses(gateway: Gateway, there: Client, monkeypatch: pytest.MonkeyPatch, status: int, kind: type) -> None:
    monkeypatch.setattr(gateway, "answer", lambda *_: (status, {"ok": False, "error": {"message": "because"}}))
    assert isinstance(await there.ask(MAIN, "x"), kind)


async def test_a_usable_gateway_passes_the_probe_without_any_model_being_asked(gateway: Gateway, there: Client) -> None:
    assert await there.probe() is None
    async with client(gateway, mode="chat") as chatting:
        assert await chatting.probe() is None
    assert gateway.asked == []


# chat


async def test_chat_is_one_turn_in_the_session(gateway: Gateway) -> None:
    gateway.act = lambda text: Act(reply=f"you said {text}")
    async with client(gateway, mode="chat") as there:
        assert await there.ask(MAIN, "hi") == Replied("you said hi")
        gateway.act = lambda _: Act()
        assert await there.ask(MAIN, "hi") == Silent()


async def test_chat_that_is_switched_off_names_the_setting(gateway: Gateway) -> None:
    gateway.chat = False
    async with client(gateway, mode="chat") as there:
        outcome = await there.ask(MAIN, "x")
        assert isinstance(outcome, Away)
        assert "gateway.http.endpoints.chatCompletions.enabled" in outcome.why


async def test_a_sender_of_its_own_session_gets_it_opened_by_chat(gateway: Gateway) -> None:
    gateway.act = lambda text: Act(reply=text.upper())
    async with client(gateway, per_sender=True) as there:
        assert await there.ask("agent:main:mailbox:ann", "one") == Replied("ONE")
        assert await there.ask("agent:main:mailbox:ann", "two") == Replied("TWO")
    assert [text for _, text in gateway.asked] == ["one", "two"]
    assert gateway.callers == {"agent:main:mailbox"}


# Late replies


async def test_a_late_reply_is_found_by_its_run_or_by_its_mark(gateway: Gateway, there: Client) -> None:
    gateway.act = lambda _: Act(status="accepted")
    outcome = await there.ask(MAIN, "mark aa11: long work")
    assert isinstance(outcome, Later)
    assert await there.find(MAIN, "aa11", outcome.run_id) == outcome
    gateway.finish("done at last")
    assert await there.find(MAIN, "aa11", outcome.run_id) == Replied("done at last")
    assert await there.find(MAIN, "aa11", None) == Replied("done at last")
    assert await there.find(MAIN, "bb22", None) is None


async def test_a_history_that_may_not_be_read_is_told(gateway: Gateway, there: Client) -> None:
    gateway.allowed = {"sessions_send"}
    found = await there.find(MAIN, "aa11", None)
    assert isinstance(found, Away)
    assert '"sessions_history"' in found.why
    gateway.stop()
    assert isinstance(await there.find(MAIN, "aa11", None), Unknown)


MAIL = {"role": "assistant", "content": "mark aa11", "idempotencyKey": "run-1:user", "provenance": {"kind": "inter_session"}}


def entry(text: str, run: str | None = None, stop: str | None = "stop") -> dict[str, Any]:
    meta = {"__openclaw": {"runId": run}} if run else {}
    return {"role": "assistant", "content": [{"type": "text", "text": text}], "stopReason": stop} | meta


@pytest.mark.parametrize(
    ("entries", "reply"),
    [
        ([], None),
        ([MAIL], Later("run-1")),
        ([MAIL, entry("yes", "run-1")], Replied("yes")),
        ([MAIL, entry("no", "run-2"), entry("yes", "run-1")], Replied("yes")),
        ([MAIL, entry("let me look", "run-1", "toolUse")], Later("run-1")),
        ([MAIL, entry("let me look", "run-1", "toolUse"), entry("yes", "run-1")], Replied("yes")),
        ([MAIL, entry("NO_REPLY", "run-1")], Later("run-1")),
        ([{"role": "user", "content": "mark aa11"}, entry("yes", "chatcmpl-1"), entry("more", "run-9")], Replied("yes")),
        ([{"role": "user", "content": "mark aa11"}, {"role": "user", "content": "else"}, entry("not mine")], Later(None)),
    ],
)
def test_which_entry_answers(entries: list[dict[str, Any]], reply: object) -> None:
    assert reply_to("aa11", None, entries) == reply


# Settings


def test_settings_are_read_from_flags_and_the_environment() -> None:
    environ = {"OPENCLAW_GATEWAY_TOKEN": TOKEN, "POSTOFFICE_SERVER": "http://127.0.0.1:9", "MAILBOX_API_KEY": "amb_x\n"}
    settings = relay_settings({"agent": "claw", "chat": True, "timeout": 5.0}, environ)
    assert settings is not None
    assert (settings.server, settings.gateway, settings.key) == ("http://127.0.0.1:9", "http://127.0.0.1:18789", "amb_x")
    assert (settings.mode, settings.timeout, settings.target, settings.caller) == ("chat", 5.0, MAIN, "agent:main:mailbox")
    assert relay_settings({}, {}) is None
    with pytest.raises(BadSetting):
        relay_settings({}, environ | {"OPENCLAW_GATEWAY_URL": "ftp://x"})


@pytest.mark.parametrize("given", ["nan", "inf", "0", "-3", "soon"])
def test_a_time_that_nobody_can_wait_is_refused(given: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["openclaw", "--as", "claw", f"--timeout={given}"])
    assert ended.value.code == 2
    assert f"argument --timeout: invalid seconds value: '{given}'" in capsys.readouterr().err


def test_settings_never_show_the_token_or_the_key() -> None:
    shown = repr(RelaySettings(server="http://127.0.0.1:9", token=TOKEN, key="amb_secret"))
    assert TOKEN not in shown
    assert "amb_secret" not in shown


async def test_a_slow_gateway_is_waited_for(gateway: Gateway, there: Client) -> None:
    gateway.act = lambda _: Act(reply="phew", seconds=0.5)
    began = time.monotonic()
    assert await there.ask(MAIN, "x") == Replied("phew")
    assert time.monotonic() - began >= 0.5

"""Who is calling: the address, the key, or on an open server a name; and nobody in another's name."""

import pytest
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError

from tests.doors.callers import done
from tests.doors.served import Served
from tests.mcp.calling import PER_AGENT, SHARED, as_agent, call, client, join, post, refusal

ACCEPT = {"Accept": "application/json, text/event-stream"}
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


async def whoami(caller: Client) -> tuple[str, bool]:
    """By what name the office knows a caller, and whether it is sure."""
    await call(caller, "mailbox_send", to="mirror", content="who am I?")
    async with as_agent(Mirror.served, "mirror", key=Mirror.key) as mirror:
        (mail,) = (await call(mirror, "mailbox_receive"))["messages"]
        await call(mirror, "mailbox_ack", message_id=mail["id"])
    return mail["from"], mail["from_verified"]


class Mirror:
    """An agent that tells others who they are."""

    served: Served
    key: str

    @classmethod
    async def hang(cls, served: Served) -> None:
        cls.served, cls.key = served, await join(served, "mirror", "*")


class TestTheAddress:
    async def test_the_keys_agent_must_be_the_paths(self, vault: Served, desk: Served) -> None:
        for office in (vault, desk):
            key = await join(office, "alice")
            await join(office, "bob")
            async with office.client(key=key) as http:
                for path in ("/agents/bob/mcp", "/agents/bob/mcp/", "/agents/nobody/mcp"):
                    answer = await post(http, path, "check_mail")
                    assert (answer.status_code, answer.json()["code"]) == (403, "not_you")
                    answer = await http.post(path, json=LIST, headers=ACCEPT)
                    assert answer.status_code == 403
                    assert answer.json()["error"]["data"] == {"code": "not_you"}
                assert done(await post(http, "/agents/ALICE/mcp", "check_mail")) is None

    async def test_a_name_that_cannot_be_is_refused(self, desk: Served) -> None:
        async with desk.client() as http:
            for path, code in (
                ("/agents/two%20words/mcp", "bad_name"),
                ("/agents/owner/mcp/", "reserved_name"),
                ("/agents/con/mcp", "reserved_name"),
            ):
                answer = await post(http, path, "check_mail")
                assert (answer.status_code, answer.json()["code"]) == (422, code)

    async def test_an_agent_exists_from_its_first_call_that_does_more_than_look(self, served: Served) -> None:
        async with served.client() as http:
            for tool, arguments, there in (("check_mail", {}, False), ("send_to_agent", {"name": "brand-new", "msg": "note"}, True)):
                done(await post(http, "/agents/brand-new/mcp/", tool, **arguments))
                listed = done(await post(http, "/mcp", "mailbox_agents"))["agents"]
                assert ("brand-new" in [agent["name"] for agent in listed]) is there

    async def test_nobody_begins_to_exist_without_a_key_where_keys_are_needed(self, vault: Served) -> None:
        async with vault.client() as http, vault.client(key=vault.owner_key) as owner:
            assert (await post(http, "/agents/brand-new/mcp/", "check_mail")).status_code == 401
            listed = done(await post(owner, "/mcp", "mailbox_agents"))["agents"]
            assert "brand-new" not in [agent["name"] for agent in listed]


class TestKeys:
    async def test_a_key_comes_by_either_header(self, vault: Served) -> None:
        await Mirror.hang(vault)
        key = await join(vault, "alice")
        for headers in ({"X-API-Key": key}, bearer(key), {"Authorization": f"bearer {key}"}):
            for path in ("/mcp", "/agents/alice/mcp/"):
                async with client(vault, path, headers=headers) as alice:
                    assert await whoami(alice) == ("alice", True)

    async def test_without_a_key_a_server_that_needs_one_shows_nothing(self, vault: Served) -> None:
        async with vault.client() as http:
            for path in (*SHARED, *PER_AGENT):
                for body in ({"tool": "check_mail"}, LIST):
                    for headers in (ACCEPT, ACCEPT | {"X-Agent": "x"}, ACCEPT | bearer("amb_" + "0" * 64), ACCEPT | bearer("nonsense")):
                        answer = await http.post(path, json=body, headers=headers)
                        assert answer.status_code == 401, (path, body, headers)
                        assert answer.headers["WWW-Authenticate"].startswith("Bearer")

    async def test_the_official_client_hears_why(self, vault: Served) -> None:
        with pytest.RaisesGroup(pytest.RaisesExc(MCPError, match="give a key"), flatten_subgroups=True):
            async with client(vault, "/mcp") as nobody:
                await nobody.list_tools()

    async def test_a_wrong_key_is_no_name_either_on_an_open_server(self, desk: Served) -> None:
        async with desk.client(key="amb_" + "0" * 64) as http:
            for path in ("/mcp", "/agents/alice/mcp"):
                answer = await post(http, path, "mailbox_agents")
                assert (answer.status_code, answer.json()["code"]) == (401, "bad_key")

    async def test_a_revoked_key_ends(self, vault: Served) -> None:
        key = await join(vault, "alice")
        async with vault.client(key=key) as http:
            assert done(await post(http, "/agents/alice/mcp", "check_mail")) is None
            await vault.office.revoke_keys(await vault.office.identify(key=key))
            assert (await post(http, "/agents/alice/mcp", "check_mail")).status_code == 401


class TestNamesWithAKey:
    async def test_they_are_never_open_to_the_keyless(self, desk: Served) -> None:
        """Not by the path, not by a header, not by what a call says."""
        await join(desk, "bob")
        async with desk.client() as http:
            for path in ("/agents/bob/mcp", "/agents/bob/mcp/", "/agents/BOB/mcp"):
                assert (await post(http, path, "check_mail")).status_code == 401
            tries = [
                await post(http, "/mcp", "mailbox_send", from_="bob", to="eve", content="x"),
                await post(http, "/mcp", "mailbox_send", from_="Bob", to="eve", content="x"),
                await post(http, "/mcp", "mailbox_receive", agent_id="bob"),
                await post(http, "/mcp", "mailbox_wait", agent_id="BOB", timeout_ms=0),
                await post(http, "/mcp", "mailbox_ack", agent_id="bob", message_id="x"),
                await post(http, "/mcp", "mailbox_agents", agent_id="bob"),
                await http.post("/mcp", json={"tool": "mailbox_agents"}, headers={"X-Agent": "bob"}),
                await post(http, "/agents/eve/mcp", "mailbox_receive", agent_id="bob"),
            ]
        assert [answer.status_code for answer in tries] == [401] * 7 + [403]
        assert {answer.json()["code"] for answer in tries} == {"key_required", "not_you"}

    async def test_over_mcp_it_is_a_tool_error_that_asks_for_the_key(self, desk: Served) -> None:
        await join(desk, "bob")
        async with client(desk) as anyone:
            said = await refusal(anyone, "mailbox_send", from_="bob", to="eve", content="x")
            assert "send the key" in said
            assert said.endswith("[key_required]")


class TestSpeakingForOthers:
    async def test_a_from_that_is_not_the_caller_is_refused_and_never_rewritten(self, desk: Served) -> None:
        key = await join(desk, "alice")
        async with client(desk, key=key) as keyed, client(desk, "/agents/carol/mcp") as named:
            for caller, name in ((keyed, "alice"), (named, "carol")):
                for tool, arguments in (
                    ("mailbox_send", {"from_": "dave", "to": "eve", "content": "x"}),
                    ("mailbox_receive", {"agent_id": "dave"}),
                    ("mailbox_nack", {"agent_id": "dave", "message_id": "x"}),
                ):
                    said = await refusal(caller, tool, **arguments)
                    assert name in said
                    assert said.endswith("[not_you]")
            assert (await call(named, "mailbox_send", from_="CAROL", to="eve", content="x"))["status"] == "pending"
        assert [item.sender for item in (await desk.office.waiting(await desk.office.identify(name="eve"))).items] == ["carol"]

    async def test_who_says_no_name_at_the_shared_address_is_asked_for_one(self, desk: Served) -> None:
        async with client(desk) as anyone:
            for tool, arguments in (("mailbox_send", {"to": "bob", "content": "x"}), ("mailbox_receive", {})):
                said = await refusal(anyone, tool, **arguments)
                assert "name" in said
                assert said.endswith("[unidentified]")

    async def test_a_name_without_a_key_is_never_verified(self, desk: Served) -> None:
        await Mirror.hang(desk)
        async with client(desk, "/agents/carol/mcp") as by_path, client(desk, name="carol") as by_header:
            assert await whoami(by_path) == await whoami(by_header) == ("carol", False)

    async def test_the_owner_may_lend_its_voice_to_names_without_a_key(self, vault: Served) -> None:
        await Mirror.hang(vault)
        await join(vault, "alice")
        async with client(vault, "/agents/carol/mcp", key=vault.owner_key) as owner:
            assert await whoami(owner) == ("carol", True)
        async with vault.client(key=vault.owner_key) as http:
            sent = await post(http, "/mcp", "mailbox_send", from_="dave", to="mirror", content="x")
            assert sent.status_code == 200
            for answer in (
                await post(http, "/agents/alice/mcp", "check_mail"),
                await post(http, "/mcp", "mailbox_receive", agent_id="alice"),
            ):
                assert (answer.status_code, answer.json()["code"]) == (401, "key_required")

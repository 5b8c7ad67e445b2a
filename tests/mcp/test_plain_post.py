"""The plain POST: one tool in one line of a shell script, its bare JSON back, and errors by HTTP status."""

from typing import Any

from postoffice.core.tools import TOOLS
from tests.doors.callers import done, refused
from tests.doors.served import Served
from tests.mcp.calling import PER_AGENT, SHARED, join, post
from tests.mcp.tour import tour

ALL = (*SHARED, *PER_AGENT)
BODIES = {
    b'{"tool": "check_mail", "args": {}': (400, "bad_json"),
    b'{"tool": "send_to_agent", "args": {"name": "bob", "msg": "\xff"}}': (400, "bad_json"),
    b'{"tool": 5}': (400, "bad_json"),
    b'{"tool": "check_mail", "args": NaN}': (400, "bad_json"),
    b'["tool"]': (400, "bad_json"),
    b'{"tool": "check_mail", "arguments": {}}': (400, "bad_json"),
    b'{"tool": "no_such_thing"}': (404, "no_such_tool"),
    b'{"tool": "check_mail", "args": [1]}': (422, "invalid"),
    b'{"tool": "check_mail", "args": "{}"}': (422, "invalid"),
    b'{"tool": "check_mail", "args": {"limit": 1}}': (422, "invalid"),
    b'{"tool": "send_to_agent", "args": {"name": "two words", "msg": "x"}}': (422, "bad_name"),
    b'{"tool": "send_to_agent", "args": {"name": "keyed", "msg": "x"}}': (403, "not_admitted"),
    b'{"tool": "mailbox_ack", "args": {"message_id": "none"}}': (404, "no_such_message"),
    b'{"tool": "mailbox_send", "args": {"to": "bob", "content": "y", "id": "m-1"}}': (409, "id_conflict"),
    b'{"tool": "mailbox_send", "args": {"from": "bob", "to": "bob", "content": "y"}}': (403, "not_you"),
}


class TestMethods:
    async def test_mcp_is_spoken_by_post_alone(self, desk: Served) -> None:
        async with desk.client(follow_redirects=False) as http:
            for path in ALL:
                for method in ("GET", "DELETE", "PUT", "PATCH"):
                    answer = await http.request(method, path, headers={"Accept": "text/event-stream"})
                    refused(answer, 405, "wrong_method")
                    assert answer.headers["Allow"] == "POST"

    async def test_neither_form_of_an_address_redirects(self, desk: Served) -> None:
        async with desk.client(follow_redirects=False) as http:
            for path in ALL:
                assert isinstance(done(await post(http, f"{path}?tools=all", "mailbox_agents")), dict)


class TestEveryTool:
    async def test_its_bare_json_comes_back(self, served: Served) -> None:
        used: dict[str, Any] = {}
        async with served.client() as http:

            async def plainly(agent: str, tool: str, **arguments: Any) -> Any:
                answer = await post(http, f"/agents/{agent}/mcp?tools=all", tool, **arguments)
                assert answer.headers["Content-Type"] == "application/json"
                used[tool] = done(answer)
                return used[tool]

            await tour(plainly)
        assert used.keys() == TOOLS.keys()
        assert used["send_to_agent"] == "m-1"
        assert used["check_mail"] is None

    async def test_arguments_may_be_left_out(self, desk: Served) -> None:
        async with desk.client() as http:
            for body in ({"tool": "check_mail"}, {"tool": "check_mail", "args": None}, {"args": {}, "tool": "check_mail"}):
                assert done(await http.post("/agents/bob/mcp", json=body)) is None

    async def test_the_type_of_the_body_does_not_matter(self, desk: Served) -> None:
        """curl without -H says that a body is a form."""
        async with desk.client() as http:
            headers = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "*/*"}
            assert done(await http.post("/agents/bob/mcp", content=b'{"tool": "check_mail"}', headers=headers)) is None

    async def test_text_may_speak_of_the_protocol(self, desk: Served) -> None:
        async with desk.client() as http:
            words = 'in "jsonrpc" a "tool" is called'
            done(await post(http, "/agents/alice/mcp", "send_to_agent", name="bob", msg=words))
            assert done(await post(http, "/agents/bob/mcp", "check_mail"))["content"] == words


class TestErrors:
    async def test_each_has_its_status_and_its_code(self, desk: Served) -> None:
        await join(desk, "keyed")
        wrong = {}
        async with desk.client() as http:
            done(await post(http, "/agents/alice/mcp", "mailbox_send", to="bob", content="x", id="m-1"))
            for body, (status, code) in BODIES.items():
                answer = await http.post("/agents/alice/mcp", content=body)
                found = answer.status_code, answer.json().get("code")
                if found != (status, code) or not answer.json().get("detail"):
                    wrong[body] = (*found, answer.text)
        assert wrong == {}

    async def test_a_call_that_is_mistyped_is_told_how_one_is_written(self, desk: Served) -> None:
        async with desk.client() as http:
            for body in (b"", b"hello", b"{}", b'{"tol": "check_mail"}'):
                answer = await http.post("/agents/alice/mcp", content=body)
                assert (answer.status_code, answer.json()["code"]) == (400, "bad_json"), answer.text
                assert 'send {"tool": …, "args": {…}}' in answer.json()["detail"]

    async def test_what_is_neither_a_call_nor_the_protocol_is_refused(self, desk: Served) -> None:
        async with desk.client() as http:
            for body in (b"", b"{}", b"[]", b"null", b"5", b'"tool', b"\xff\xfe", b'{"jsonrpc": "2.0"}', b"[" * 100_000):
                answer = await http.post("/agents/alice/mcp", content=body, headers={"Content-Type": "application/json"})
                assert answer.status_code in (400, 406), (body[:20], answer.text)

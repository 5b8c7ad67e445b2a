"""What the page answers with, to whom, and what it refuses."""

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from postoffice.acts.people.agents import Appear
from postoffice.core.errors import DatabaseLost
from postoffice.core.views import Totals
from tests.doors.callers import done
from tests.doors.served import Served, serving
from tests.engines import Engine, SQLiteEngine
from tests.page.test_views import VIEWS

PATHS = [path for path, _ in VIEWS.values() if path.startswith("/")]
POSTS = [
    ("/page/compose", {"to": "bob", "content": "posing"}),
    ("/page/attachments", {}),
    ("/page/thread/0199d2a0-0000-7000-8000-000000000003/reply", {"content": "x", "way": "a>b"}),
    ("/page/tasks/0199d2a0-0000-7000-8000-000000000003/move", {"state": "completed"}),
    ("/page/connections/request", {"to": "bob"}),
    ("/page/connections/approve", {"code": "AB-123"}),
    ("/page/connections/0199d2a0-0000-7000-8000-000000000003/approve", {}),
    ("/page/dead/0199d2a0-0000-7000-8000-000000000003/discard", {"of": "bob"}),
    ("/page/recurring/0199d2a0-0000-7000-8000-000000000003/stop", {}),
    ("/page/reservations/0199d2a0-0000-7000-8000-000000000003/end", {}),
    ("/page/lists", {"name": "backend"}),
    ("/page/lists/backend/join", {}),
    ("/page/connect", {"name": "mallory"}),
    ("/page/connect/test", {"name": "mallory"}),
    ("/page/agents/bob/revoke", {}),
    ("/page/agents/bob/pause", {"until": "hour"}),
    ("/page/agents/bob/forget", {}),
    ("/page/many", {"act": "done", "pick": "x"}),
    ("/page/mine/0199d2a0-0000-7000-8000-000000000003/done", {}),
    ("/page/letter/0199d2a0-0000-7000-8000-000000000003/done", {}),
    ("/page/letter/0199d2a0-0000-7000-8000-000000000003/cancel", {}),
    ("/page/question/0199d2a0-0000-7000-8000-000000000003/answer", {"content": "yes"}),
    ("/page/tasks/0199d2a0-0000-7000-8000-000000000003/remind", {}),
    ("/page/tasks/0199d2a0-0000-7000-8000-000000000003/cancel", {}),
    ("/page/tasks/0199d2a0-0000-7000-8000-000000000003/reassign", {"to": "bob"}),
    ("/page/settings/theme", {"theme": "dark"}),
    ("/page/login", {"code": "x"}),
    ("/page/logout", {}),
]


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[Served]:
    async with serving(SQLiteEngine(tmp_path)) as opened:
        yield opened


@pytest.fixture
async def http(served: Served) -> AsyncIterator[httpx.AsyncClient]:
    async with served.client() as client:
        yield client


class TestChangesComeFromThePageItself:
    @pytest.mark.parametrize(("path", "form"), POSTS, ids=[path for path, _ in POSTS])
    async def test_what_no_browser_vouches_for_is_refused(
        self, served: Served, http: httpx.AsyncClient, path: str, form: dict[str, str]
    ) -> None:
        host = served.url.partition("//")[2]
        foreign: list[dict[str, str]] = [
            {},
            {"Sec-Fetch-Site": "cross-site"},
            {"Sec-Fetch-Site": "same-site"},
            {"Sec-Fetch-Site": "none"},
            {"Sec-Fetch-Site": "cross-site", "Origin": served.url},
        ]
        for headers in foreign:
            answer = await http.post(path, data=form, headers=headers)
            assert answer.status_code == 403
            assert "has to come from the page itself" in answer.text
        # Other origins do not come as far as the page.
        for origin in ("null", "http://evil.example", f"ftp://{host}"):
            assert (await http.post(path, data=form, headers={"Origin": origin})).status_code == 403
        async with served.client(key=served.owner_key) as owner:
            assert done(await owner.get("/owner/totals"))["pending"] == 0
            assert [agent["name"] for agent in done(await owner.get("/agents"))["agents"]] == ["owner"]

    @pytest.mark.parametrize("proof", ["fetch metadata", "origin"])
    async def test_either_proof_suffices(self, served: Served, http: httpx.AsyncClient, proof: str) -> None:
        headers = {"Sec-Fetch-Site": "same-origin"} if proof == "fetch metadata" else {"Origin": served.url}
        answer = await http.post("/page/compose", data={"to": "bob", "new": "bob", "content": "hello", "once": "1"}, headers=headers)
        assert answer.status_code == 303
        assert answer.headers["location"].startswith("/page/thread/")
        again = await http.post("/page/compose", data={"to": "bob", "new": "bob", "content": "hello", "once": "1"}, headers=headers)
        assert again.headers["location"] == answer.headers["location"]
        async with served.client(name="bob") as bob:
            assert done(await bob.get("/mailbox"))["pending"] == 1, "a form sent twice is one letter"

    async def test_a_page_that_may_call_the_api_may_not_change_by_forms(self, tmp_path: Path) -> None:
        async with (
            serving(SQLiteEngine(tmp_path), open_to_others=True, cors_origins=("https://app.example",)) as served,
            served.client() as http,
        ):
            answer = await http.post("/page/compose", data={"to": "bob", "content": "x"}, headers={"Origin": "https://app.example"})
            assert answer.status_code == 403

    async def test_forms_that_cannot_be_read_are_refused(self, http: httpx.AsyncClient) -> None:
        ours = {"Sec-Fetch-Site": "same-origin", "Content-Type": "application/x-www-form-urlencoded"}
        for body in (b"\xff\xfe", b"&".join(b"a=%d" % n for n in range(200)), b"to=&content=x", b"to=bob&content="):
            assert (await http.post("/page/compose", content=body, headers=ours)).status_code == 422

    async def test_a_login_leads_nowhere_else(self, tmp_path: Path) -> None:
        async with serving(SQLiteEngine(tmp_path), auth="keys") as served, served.client() as http:
            for wanted in ("//evil.example", "https://evil.example", "/\\evil.example", "/page/\\evil", "/docs", "javascript:alert(1)"):
                code = await served.office.make_link(served.office.owner())
                form = {"code": code, "next": wanted}
                answer = await http.post("/page/login", data=form, headers={"Sec-Fetch-Site": "same-origin"})
                assert (answer.status_code, answer.headers["location"]) == (303, "/")
                http.cookies.clear()

    async def test_a_stranger_who_comes_from_no_address_is_shown_the_way_in(self, tmp_path: Path) -> None:
        async with serving(SQLiteEngine(tmp_path), auth="keys") as served, served.client() as http:
            headers = {"Sec-Fetch-Site": "same-origin", "Referer": "http://[nowhere"}
            answer = await http.post("/page/compose", data={"to": "bob"}, headers=headers)
            assert answer.status_code == 401
            assert 'name="next" value="/"' in answer.text

    async def test_the_cookie_is_secure_where_the_connection_is(self, tmp_path: Path) -> None:
        async with serving(SQLiteEngine(tmp_path), auth="keys", trusted_proxies=("127.0.0.1",)) as served, served.client() as http:
            code = await served.office.make_link(served.office.owner())
            headers = {"Sec-Fetch-Site": "same-origin", "X-Forwarded-Proto": "https"}
            cookie = (await http.post("/page/login", data={"code": code}, headers=headers)).headers["set-cookie"]
            assert {"HttpOnly", "Secure", "SameSite=strict", "Path=/"} <= set(cookie.split("; "))


class TestWhatEveryAnswerSays:
    @pytest.mark.parametrize("path", PATHS)
    async def test_a_strict_policy(self, http: httpx.AsyncClient, path: str) -> None:
        answer = await http.get(path)
        (policy,) = answer.headers.get_list("content-security-policy")
        directives = {words[0]: words[1:] for words in (part.split() for part in policy.split(";"))}
        assert directives["default-src"] == ["'none'"]
        assert {"script-src", "style-src", "img-src", "connect-src", "form-action"} <= directives.keys()
        assert "unsafe" not in policy
        assert directives["base-uri"] == directives["frame-ancestors"] == ["'none'"]
        assert directives["require-trusted-types-for"] == ["'script'"]
        expected = {
            "x-content-type-options": "nosniff",
            "referrer-policy": "same-origin",
            "cross-origin-opener-policy": "same-origin",
            "cross-origin-resource-policy": "same-origin",
            "x-frame-options": "DENY",
            "cache-control": "no-store",
        }
        assert {name: answer.headers.get(name) for name in expected} == expected

    @pytest.mark.parametrize("path", PATHS)
    async def test_nothing_inline_and_nothing_from_elsewhere(self, http: httpx.AsyncClient, path: str) -> None:
        text = (await http.get(path)).text
        assert not re.search(r"<[^>]+\s(style|on\w+)\s*=", text)
        assert not re.search(r"<style|<script(?![^>]*\ssrc=)", text)
        assert not re.findall(r"(?:src|href|action)=\"(?!/|#|\?)[^\"]*\"", text)

    async def test_files_are_kept_for_good_under_an_address_that_changes(self, http: httpx.AsyncClient) -> None:
        page = (await http.get("/")).text
        files = re.findall(r"\"(/page/static/[^\"]+)\"", page)
        assert len(files) == 4
        for address in files:
            answer = await http.get(address)
            assert answer.headers.get_list("cache-control") == ["public, max-age=31536000, immutable"]
            assert answer.headers["content-type"].split(";")[0] in ("text/css", "text/javascript", "image/svg+xml", "image/png")
        old = await http.get(re.sub("static/[0-9a-f]+/", "static/0000/", files[0]))
        assert (old.status_code, old.headers["cache-control"]) == (200, "no-store")
        scripts = await http.get(next(address for address in files if address.endswith(".js")))
        for name in re.findall(r'from "\./([\w.]+)"', scripts.text):
            assert (await http.get(files[0].rpartition("/")[0] + f"/{name}")).status_code == 200
        for wrong in (
            "/page/static/x/nothing.js",
            "/page/static/x/..%2fdoor.py",
            "/page/static/x/%2e%2e/door.py",
            "/page/static/x/page.css.map",
        ):
            assert (await http.get(wrong)).status_code == 404

    async def test_no_file_names_an_outside_address(self) -> None:
        folder = Path(__file__).parent.parent.parent / "src" / "postoffice" / "doors" / "page"
        files = [path for kind in ("static", "templates") for path in (folder / kind).iterdir() if path.suffix != ".png"]
        assert len(files) > 20
        named = {path.name: found for path in files if (found := re.findall(r"(?:https?:)?//[\w-]+\.[\w.-]+", path.read_text()))}
        # What a person may type is shown as an example, and nothing asks it.
        assert named == {"icon.svg": ["http://www.w3.org"], "notify.html": ["//ntfy.sh"]}


class TestEveryEngine:
    async def test_every_view_is_shown_whatever_keeps_the_mail(self, engine: Engine) -> None:
        async with serving(engine) as served, served.client(name="alice") as alice, served.client() as http:
            sent = done(
                await alice.post("/messages/send", json={"to": "bob", "subject": "Lunch", "content": "Noon at the **green** door?"}), 201
            )
            task = {"to": "bob", "subject": "Work", "content": "please", "type": "task"}
            done(await alice.post("/messages/send", json=task), 201)
            async with served.client(name="bob") as bob:
                done(await bob.post("/connections/request", json={"target_agent_name": "alice"}), 201)
                done(await bob.post("/messages/receive", json={"limit": 1}))
            for path in (
                *PATHS,
                f"/page/thread/{sent['session_id']}",
                f"/page/letter/{sent['message_id']}",
                "/page/traffic?span=week",
                "/page/search?q=green",
                "/page/between/bob/alice",
                f"/page/thread/{sent['session_id']}/letters.md",
                f"/page/thread/{sent['session_id']}/letters.json",
            ):
                answer = await http.get(path)
                assert answer.status_code == (
                    404 if path in ("/page/nowhere", "/page/mail?of=coder", "/page/between/coder/atlas") else 200
                ), path
            assert "In hand" in (await http.get(f"/page/thread/{sent['session_id']}")).text
            assert sent["message_id"] in (await http.get("/page/search?q=green")).text
            assert sent["message_id"] in await _hear(http, {"Last-Event-ID": "0"})


class TestFragments:
    async def test_a_fragment_is_what_the_whole_page_has_there(self, served: Served, http: httpx.AsyncClient) -> None:
        async with served.client(name="alice") as alice:
            done(await alice.post("/messages/send", json={"to": "bob", "subject": "Lunch", "content": "Noon?"}), 201)
        whole = (await http.get("/page/mail")).text
        part = await http.get("/page/mail", headers={"X-Fragment": "list"})
        assert part.text.strip() in whole
        assert "<html" not in part.text
        assert part.headers["vary"] == "x-fragment, accept-encoding"
        both = (await http.get("/page/overview", headers={"X-Fragment": "nav,numbers,nothing"})).text
        assert re.findall(r'data-fragment="(\w+)"', both) == ["nav", "numbers"]

    async def test_every_fragment_of_every_page_can_be_asked_for(self, served: Served, http: httpx.AsyncClient) -> None:
        async with served.client(name="alice") as alice:
            sent = done(await alice.post("/messages/send", json={"to": "bob", "subject": "Lunch", "content": "Noon?"}), 201)
        for path in (*PATHS, f"/page/thread/{sent['session_id']}", f"/page/letter/{sent['message_id']}"):
            names = re.findall(r'data-fragment="(\w+)"', (await http.get(path)).text)
            found = (await http.get(path, headers={"X-Fragment": ",".join(names)})).text
            assert re.findall(r'data-fragment="(\w+)"', found) == names, path

    async def test_what_only_another_view_has_is_left_out(self, served: Served, http: httpx.AsyncClient) -> None:
        async with served.client(name="alice") as alice:
            done(await alice.post("/messages/send", json={"to": "bob", "subject": "Lunch", "content": "Noon?"}), 201)
        everything = "thread,letter,flow,board,dead,waiting,active,found,attention,numbers,agents,latest,bridges,light,list,nav"
        for path in PATHS:
            answer = await http.get(path, headers={"X-Fragment": everything})
            assert answer.status_code < 500, path
            assert 'data-fragment="nav"' in answer.text, path
        beside = await http.get("/page/mail", headers={"X-Fragment": "flow,list,thread"})
        assert re.findall(r'data-fragment="(\w+)"', beside.text) == ["list"]


class TestLength:
    async def test_of_all_the_parts_of_a_letter_only_so_much_is_rendered(self, served: Served, http: httpx.AsyncClient) -> None:
        parts = [{"type": "text", "text": f"begin{number} " + "x" * 4_000} for number in range(9)]
        async with served.client(name="alice") as alice:
            sent = done(await alice.post("/messages/send", json={"to": "bob", "subject": "Parts", "parts": parts}), 201)
        thread = (await http.get(f"/page/thread/{sent['session_id']}")).text
        letter = (await http.get(f"/page/letter/{sent['message_id']}")).text
        pane = thread.partition('id="thread"')[2]
        assert [number for number in range(9) if f"begin{number}" in pane] == [0, 1]
        assert pane.count("more characters") == 8
        assert [number for number in range(9) if f"begin{number}" in letter.partition('id="letter"')[2]] == [0, 1, 2, 3, 4]
        assert "begin8" in (await http.get(f"/page/letter/{sent['message_id']}/text")).text


class TestLists:
    async def test_a_mailbox_beyond_those_that_are_offered_is_the_chosen_one(self, served: Served, http: httpx.AsyncClient) -> None:
        await asyncio.gather(*(served.office.store.do(Appear(name)) for name in ("zed", *(f"agent-{number:03}" for number in range(200)))))
        for name in ("zed", "agent-007"):
            page = (await http.get(f"/page/mail?of={name}")).text
            assert re.findall(r'<option value="([^"]*)" selected>', page) == [name]

    async def test_what_is_shown_of_a_letter_is_what_it_says(self, served: Served, http: httpx.AsyncClient) -> None:
        async with served.client(name="alice") as alice:
            done(await alice.post("/messages/send", json={"to": "bob", "subject": "S", "content": "in C:\\new\n\tand\u202eon"}), 201)
        assert '<span class="row-text">in C:\\new and\\u202eon</span>' in (await http.get("/page/mail")).text


class TestCounts:
    async def test_what_is_not_counted_to_its_end_says_so(self, served: Served, http: httpx.AsyncClient) -> None:
        async with served.client(name="alice") as alice:
            for number in range(51):
                late = {"to": "bob", "content": "x", "type": "task", "task": {"deadline": "2020-01-01T00:00:00Z"}}
                done(await alice.post("/messages/send", json=late | {"subject": str(number)}), 201)
                if number == 49:
                    assert "<b>50</b> tasks are stuck" in (await http.get("/page/overview")).text
        assert "<b>50+</b> tasks are stuck" in (await http.get("/page/overview")).text


class TestRefusalsArePages:
    async def test_each_has_its_status_and_a_way_on(self, http: httpx.AsyncClient) -> None:
        cases = {
            "/page/nowhere": 404,
            "/page": 404,
            "/page/thread/nonsense": 404,
            "/page/letter/nonsense": 404,
            "/page/mail?of=nobody": 404,
            "/page/mail?of=%00": 422,
            "/page/mail?cursor=x": 422,
            "/page/search?q=%21": 422,
            "/page/dead?cursor=1": 422,
            "/page/connect?name=all": 422,
            "/page/overview?cursor=" + "x" * 300: 422,
        }
        assert (await http.get("/page/palette?q=%00")).status_code == 200
        for path, status in cases.items():
            answer = await http.get(path)
            assert answer.status_code == status, path
            assert 'role="alert"' in answer.text
            assert 'href="/"' in answer.text

    async def test_a_database_that_is_away_is_told_by_a_page(
        self, served: Served, http: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async def lost(*_: object, **__: object) -> None:
            raise DatabaseLost(why="it is restarted")

        store = served.office.store
        asked = (
            (store.mail, "counts"),
            (store.overview, "totals"),
            (store.overview, "glances"),
            (store.overview, "roster"),
            (store.log, "last"),
        )
        for reads, question in asked:
            monkeypatch.setattr(reads, question, lost)
        answer = await http.get("/page/mail")
        assert answer.status_code == 503
        assert "The database does not answer (it is restarted)" in answer.text
        assert 'role="alert"' in answer.text
        assert 'id="nav"' in answer.text

    async def test_a_fault_of_ours_is_told_by_a_page_and_the_log_has_it(
        self, served: Served, http: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        async def stumble(*_: object, **__: object) -> None:
            raise ZeroDivisionError

        monkeypatch.setattr(served.office.store.mail, "counts", stumble)
        answer = await http.get("/page/mail")
        assert answer.status_code == 500
        assert "That is a fault of ours" in answer.text
        assert 'role="alert"' in answer.text
        assert [record.message for record in caplog.records if record.levelname == "ERROR"] == ["bug", "request"]

    async def test_whatever_is_shown_as_a_page_may_be_dressed_as_one(self, http: httpx.AsyncClient) -> None:
        for path in ("/", "/page", "/page/", "/page/nowhere"):
            answer = await http.get(path)
            assert answer.headers["content-type"].startswith("text/html")
            assert "style-src 'self'" in answer.headers["content-security-policy"], path

    async def test_days_are_told_to_be_those_of_utc(self, http: httpx.AsyncClient) -> None:
        assert re.findall(r"<label for=\"(?:since|until)\">([^<]*)<", (await http.get("/page/search")).text) == [
            "Since (UTC)",
            "Until (UTC)",
        ]

    async def test_the_api_still_answers_in_its_own_words(self, http: httpx.AsyncClient) -> None:
        assert (await http.get("/nowhere")).json()["code"] == "no_such_path"
        assert (await http.post("/")).json()["code"] == "wrong_method"


class TestNews:
    async def test_events_carry_ids_and_kinds_and_go_on_from_the_last(self, served: Served, http: httpx.AsyncClient) -> None:
        async with served.client(name="alice") as alice:
            first = done(await alice.post("/messages/send", json={"to": "bob", "subject": "S", "content": "a secret"}), 201)
            heard = await _hear(http, {"Last-Event-ID": "1"})  # after the owner's key
            assert "a secret" not in heard
            assert first["message_id"] in heard
            assert '"kinds":["new_message"]' in heard
            cursor = re.findall(r"^id: (.+)$", heard, re.MULTILINE)[-1]
            second = done(await alice.post("/messages/send", json={"to": "bob", "subject": "S", "content": "more"}), 201)
            heard = await _hear(http, {"Last-Event-ID": cursor})
            assert second["message_id"] in heard
            assert first["message_id"] not in heard

    async def test_a_database_that_goes_away_ends_them_and_is_no_bug_of_ours(
        self, served: Served, http: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        async def lost(*_: object) -> None:
            raise DatabaseLost(why="it is restarted")

        async with http.stream("GET", "/page/news") as answer:
            heard = answer.aiter_text()
            assert await anext(heard) == "retry: 1000\n\n"
            monkeypatch.setattr(served.office.store.log, "page", lost)
            async with served.client(name="alice") as alice:
                done(await alice.post("/messages/send", json={"to": "bob", "subject": "S", "content": "x"}), 201)
            assert [text async for text in heard] == []
        assert [record.message for record in caplog.records if record.levelname == "ERROR"] == []

    async def test_whoever_is_answered_is_told_what_changes_hands_from_then_on(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async with serving(SQLiteEngine(tmp_path), tick=0.05) as served, served.client() as http, served.client(name="bob") as bob:
            async with served.client(name="alice") as alice:
                done(await alice.post("/messages/send", json={"to": "bob", "subject": "S", "content": "x"}), 201)
            totals = served.office.store.overview.totals

            async def totals_at_length() -> Totals:
                await asyncio.sleep(0.5)
                return await totals()

            monkeypatch.setattr(served.office.store.overview, "totals", totals_at_length)
            async with asyncio.timeout(30), http.stream("GET", "/page/news") as answer:
                done(await bob.post("/messages/receive"))
                heard = ""
                async for text in answer.aiter_text():
                    heard += text
                    if "event: news" in heard:
                        break
            assert '"kinds":["moved"]' in heard

    async def test_a_place_from_another_office_means_everything(self, http: httpx.AsyncClient) -> None:
        assert '"kinds":["everything"]' in await _hear(http, {"Last-Event-ID": "999999999999"})

    @pytest.mark.parametrize("after", ["%00", "x" * 300, "nonsense"])
    async def test_a_place_that_is_none_means_everything_too(self, http: httpx.AsyncClient, after: str) -> None:
        assert '"kinds":["everything"]' in await _hear(http, {}, f"?after={after}")


async def _hear(http: httpx.AsyncClient, headers: dict[str, str], query: str = "") -> str:
    """What is said until the first news is whole."""
    said = ""
    async with http.stream("GET", f"/page/news{query}", headers=headers) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        async for text in answer.aiter_text():
            said += text
            if "event: news" in said and said.endswith("\n\n"):
                break
    return said

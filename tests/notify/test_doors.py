"""Notify addresses at every door: REST, the command, the page, and the link that a notification has."""

from pathlib import Path

import httpx
import pytest

from postoffice.core.agent import Caller
from postoffice.core.question import Ask
from postoffice.office import Auth
from tests.cli.home import Home
from tests.cli.home import opened as home_opened
from tests.cli.terminal import plain, seen
from tests.doors.callers import Callers, done, refused
from tests.doors.processes import started
from tests.doors.served import Served, serving
from tests.engines import Engine
from tests.mail import write
from tests.notify.told import json_at, token_in, told, wait
from tests.serve.running import PATIENCE
from tests.webhooks.receiver import receiving

LOCAL = ("127.0.0.0/8",)
OURS = {"Sec-Fetch-Site": "same-origin"}
PUBLIC = "https://mail.example.com"


async def asked(served: Served) -> str:
    if served.office.rules.auth is Auth.KEYS:
        await served.office.register("coder")
    coder = Caller("coder", verified=True) if served.office.rules.auth is Auth.KEYS else await served.office.identify(name="coder")
    ask = Ask(choices=("ship it", "wait"))
    return (await write(served.office, coder, "owner", "Ship **1.4** today?", subject="Release", ask=ask)).message_id


async def test_the_owner_keeps_addresses_over_rest(engine: Engine) -> None:
    with receiving() as receiver:
        async with serving(engine, auth="keys", public_url=PUBLIC + "/", webhook_networks=LOCAL) as served, Callers(served) as callers:
            alice, owner = await callers.join("alice"), await callers.owner()
            body = {"name": "phone", "address": json_at(receiver) + "?token=SECRET", "kinds": ["question"], "quiet": "01:00-01:01"}
            refused(await alice.post("/notify", json=body), 403, "owner_only")
            made = done(await owner.post("/notify", json=body), 201)
            assert (made["service"], made["kinds"], made["trusted"]) == ("JSON", ["question"], False)
            assert done(await owner.get("/notify")) == {"notify": [made], "public_url": PUBLIC}
            assert "SECRET" not in str(done(await owner.get("/notify"))) + str(done(await owner.get("/webhooks")))
            refused(await owner.post("/notify", json=body), 409, "webhook_taken")
            refused(await owner.post("/notify", json=body | {"name": "b", "address": "nonsense://x"}), 422, "invalid")
            refused(await owner.post("/notify", json=body | {"name": "b", "quiet": "soon"}), 422, "invalid")
            assert done(await owner.post("/notify/phone/try")) == {"service": "JSON", "error": None}
            assert receiver.taken[0].told["title"] == "Postoffice"
            id = await asked(served)
            await told(receiver, 2)
            (link,) = done(await owner.get("/answer-links"))["links"]
            assert (link["question"], link["name"]) == (id, "phone")
            refused(await alice.delete(f"/answer-links/{link['id']}"), 403, "owner_only")
            assert done(await owner.delete(f"/answer-links/{link['id']}")) == {"revoked": link["id"]}
            refused(await owner.delete(f"/answer-links/{link['id']}"), 404, "no_such_answer_link")
            assert done(await owner.post("/notify/phone/resume"))["state"] == "active"
            assert done(await owner.delete("/notify/phone")) == {"removed": "phone"}
            refused(await owner.post("/notify/phone/try"), 404, "no_such_notify")


class TestTheLink:
    async def test_a_trusted_one_answers_once_and_to_look_consumes_nothing(self, engine: Engine) -> None:
        with receiving() as receiver:
            async with serving(engine, auth="keys", public_url=PUBLIC, webhook_networks=LOCAL) as served:
                await served.office.notify.add(served.office.owner(), "phone", json_at(receiver), trusted=True)
                id = await asked(served)
                await told(receiver)
                path = f"/page/answer/{token_in(receiver)}"
                async with served.client() as stranger:
                    for _ in range(2):
                        shown = await stranger.get(path)
                        assert (shown.status_code, shown.headers["referrer-policy"]) == (200, "same-origin")
                        assert "no-store" in shown.headers["cache-control"]
                        assert "set-cookie" not in shown.headers
                    assert "Ship <strong>1.4</strong> today?" in shown.text
                    assert 'value="ship it"' in shown.text
                    assert (await stranger.head(path)).status_code in (200, 405)
                    foreign = await stranger.post(path, data={"choice": "wait"}, headers={"Sec-Fetch-Site": "cross-site"})
                    assert foreign.status_code == 403
                    assert (await stranger.post(path, data={"choice": "ship it"}, headers=OURS)).status_code == 303
                    again = await stranger.post(path, data={"choice": "wait"}, headers=OURS)
                    assert again.status_code == 409
                    assert "ship it" in again.text
                    after = (await stranger.get(path)).text
                    assert "Answered by owner" in after
                    assert "(link)" in after
                    assert (await stranger.get("/page/mail")).status_code == 401, "it lets nobody in"
                    assert (await stranger.get("/page/answer/nonsense")).status_code == 404
                assert (await served.office.question(served.office.owner(), id)).via == "link"

    async def test_any_other_asks_for_a_login(self, engine: Engine) -> None:
        with receiving() as receiver:
            async with serving(engine, auth="keys", public_url=PUBLIC, webhook_networks=LOCAL) as served:
                await served.office.notify.add(served.office.owner(), "phone", json_at(receiver))
                id = await asked(served)
                await told(receiver)
                path = f"/page/answer/{token_in(receiver)}"
                async with served.client() as browser:
                    shown = await browser.get(path)
                    assert shown.status_code == 401
                    assert "Come in" in shown.text
                    assert "Ship" not in shown.text
                    assert (await browser.post(path, data={"choice": "wait"}, headers=OURS)).status_code == 401
                    made = await served.office.make_link(served.office.owner())
                    entered = await browser.post("/page/login", data={"code": made, "next": path}, headers=OURS)
                    assert entered.headers["location"] == path
                    browser.cookies.update(entered.cookies)
                    assert (await browser.get(path)).headers["location"] == f"/page/question/{id}"


def test_the_command_adds_tries_lists_and_takes_back(tmp_path: Path) -> None:
    extra = {"POSTOFFICE_WEBHOOK_NETWORKS": "127.0.0.1", "POSTOFFICE_PUBLIC_URL": PUBLIC}
    with home_opened(tmp_path / "data", extra=extra) as office, receiving() as receiver:
        home = Home(tmp_path / "home", office)
        (made,) = home.ask("notify", "add", "phone", json_at(receiver), "--kind", "question", "--quiet", "03:00-03:01")["notify"]
        assert (made["name"], made["kinds"], made["quiet"]) == ("phone", ["question"], "03:00-03:01")
        assert home.ask("notify", "--try")["tried"] == [{"name": "phone", "service": "JSON", "error": None}]
        receiver.status = 500
        assert "phone (JSON): it answered 500" in home.refused(69, "notify", "--try", "phone")
        receiver.status = 200
        shown = plain(seen(home, "notify"))
        assert "phone" in shown
        assert "public_url" not in shown
        home.ask("ask", "--as", "coder", "Ship 1.4?")
        wait(receiver, 2)
        (link,) = home.ask("notify", "links")["links"]
        assert "a login" in plain(seen(home, "notify", "links"))
        assert home.ask("notify", "revoke", link["id"]) == {"revoked": link["id"]}
        assert home.ask("notify", "remove", "phone") == {"removed": "phone"}
        assert "say `notify add NAME ADDRESS`" in home.refused(65, "notify", "add", "phone")


def test_without_a_public_address_it_says_so(tmp_path: Path) -> None:
    with home_opened(tmp_path / "data", extra={"POSTOFFICE_WEBHOOK_NETWORKS": "127.0.0.1"}) as office:
        home = Home(tmp_path / "home", office)
        home.ask("notify", "add", "phone", "json://127.0.0.1:1/")
        assert "no links until the setting public_url" in plain(seen(home, "notify"))


@pytest.mark.parametrize("server", ["ours", "uvicorn"])
async def test_no_link_stands_in_a_log(tmp_path: Path, server: str) -> None:
    level = "debug" if server == "ours" else "info"
    token = "Abcdefghijklmnopqrstuvwxyz0123456789_-ABCDE"
    with started(server, tmp_path, "--log-level", level, extra={"POSTOFFICE_AUTH": "keys"}) as process:
        async with httpx.AsyncClient(base_url=process.url, timeout=PATIENCE) as client:
            for path in (f"/page/answer/{token}", f"/hooks/{token}"):
                await client.get(path)
                await client.post(path, headers=OURS)
        told = process.stop()
    assert token not in told
    assert "POST" in told

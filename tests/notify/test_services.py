"""Real services' own code takes words to what listens on this machine: ntfy's and e-mail's, and nowhere it must not go."""

import email
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Any

import pytest

from postoffice.bridges.notify import Messenger
from postoffice.config import Settings
from postoffice.core.errors import BadSetting
from postoffice.core.notify import Word
from postoffice.serve.build import build_rules
from tests.notify.offices import LOOPBACK
from tests.notify.told import json_at
from tests.webhooks.receiver import Receiver, receiving


def word(address: str) -> Word:
    return Word(address=address, title="coder asks you", text="Release\nhttps://mail.example.com/page/answer/a_b-c__d")


class Post:
    """What a server of e-mail was given."""

    def __init__(self) -> None:
        self.port = 0
        self.mail = b""


@contextmanager
def smtp() -> Iterator[Post]:
    """A server that takes one letter, by the protocol's own words."""
    post = Post()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        post.port = listener.getsockname()[1]

        def serve() -> None:
            client, _ = listener.accept()
            with client, client.makefile("rwb") as line:

                def say(text: bytes) -> None:
                    line.write(text + b"\r\n")
                    line.flush()

                say(b"220 here")
                for said in line:
                    word = said.strip().upper()
                    if word.startswith(b"EHLO"):
                        say(b"250-here\r\n250 AUTH PLAIN")
                    elif word.startswith(b"AUTH"):
                        say(b"235 welcome")
                    elif word == b"DATA":
                        say(b"354 go on")
                        while (part := line.readline()) != b".\r\n":
                            post.mail += part
                        say(b"250 taken")
                    elif word == b"QUIT":
                        say(b"221 bye")
                        return
                    else:
                        say(b"250 fine")

        thread = Thread(target=serve)
        thread.start()
        yield post
        thread.join(30)


async def test_ntfy_is_told(receiver: Receiver) -> None:
    outcome = await Messenger(LOOPBACK).carry(word(receiver.url.replace("http://", "ntfy://").replace("/hook", "/topic")))
    assert (outcome.service, outcome.error) == ("ntfy", None)
    told = receiver.taken[0].told
    assert (told["topic"], told["title"]) == ("topic", "coder asks you")
    assert told["message"] == "Release\nhttps://mail.example.com/page/answer/a_b-c__d"


async def test_a_letter_goes_out_by_e_mail() -> None:
    with smtp() as post:
        address = f"mailto://me:secret@127.0.0.1:{post.port}/?from=office@example.com&to=owner@example.com&mode=insecure"
        outcome = await Messenger(LOOPBACK).carry(word(address))
    assert (outcome.service, outcome.error) == ("E-Mail", None)
    mail: Any = email.message_from_bytes(post.mail)
    assert mail["Subject"] == "coder asks you"
    assert "owner@example.com" in mail["To"]
    texts = [part.get_payload(decode=True).decode() for part in mail.walk() if not part.is_multipart()]
    assert "https://mail.example.com/page/answer/a_b-c__d" in texts[0]


class TestWhereItMayGo:
    @pytest.mark.parametrize("address", ["nonsense://127.0.0.1/x", "syslog://", "dbus://", "slack://short"])
    async def test_what_nothing_takes_there_is_refused(self, address: str) -> None:
        assert (await Messenger(LOOPBACK).carry(Word(address=address))).error is not None

    @pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
    async def test_no_private_address_is_called_that_the_settings_do_not_name(self, receiver: Receiver, host: str) -> None:
        outcome = await Messenger(()).carry(word(json_at(receiver).replace("127.0.0.1", host)))
        assert outcome.error is not None
        assert "may not be called" in outcome.error
        assert receiver.got == []

    async def test_no_redirect_is_followed(self, receiver: Receiver) -> None:
        with receiving() as elsewhere:
            receiver.status, receiver.headers = 307, {"Location": elsewhere.url}
            assert (await Messenger(LOOPBACK).carry(word(json_at(receiver)))).error is not None
            assert len(receiver.got) == 1
            assert elsewhere.got == []

    async def test_no_proxy_and_nothing_of_our_environment_goes_along(self, receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
        with receiving() as proxy:
            for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
                monkeypatch.setenv(name, proxy.url)
            assert (await Messenger(LOOPBACK).carry(word(json_at(receiver)))).error is None
            assert proxy.got == []

    async def test_what_is_said_of_a_failure_holds_no_secret(self) -> None:
        outcome = await Messenger(LOOPBACK).carry(word("json://user:PASSWORD@127.0.0.1:1/TOKEN"))
        assert outcome.error is not None
        assert not any(secret in outcome.error for secret in ("PASSWORD", "TOKEN"))


class TestThePublicAddress:
    @pytest.mark.parametrize(
        "wrong", ["mail.example.com", "ftp://x", "https://", "https://x/path", "https://u:p@x", "https://x?y", "https://x y"]
    )
    def test_what_leads_nowhere_is_refused(self, wrong: str) -> None:
        with pytest.raises(BadSetting, match="public_url"):
            build_rules(Settings(public_url=wrong))

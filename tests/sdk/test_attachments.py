"""A program sends files, bytes and streams, and saves what it gets."""

import asyncio
import hashlib
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from postoffice import Mailbox
from postoffice.core.attachment import Attachment
from postoffice.core.errors import BadSetting, DigestMismatch, Invalid, NoAnswer, NoSuchAttachment
from tests.sdk.conftest import Town

BIG = os.urandom(5_000_000)


def box_of(town: Town, name: str) -> Mailbox:
    return Mailbox(name, server=town.office.url)


async def stream() -> AsyncIterator[bytes]:
    yield b"piece by "
    yield b"piece"


async def test_files_bytes_and_streams_go_and_come(town: Town, tmp_path: Path) -> None:
    path = tmp_path / "report.pdf"
    path.write_bytes(BIG)
    async with box_of(town, town.ann) as ann, box_of(town, town.bob) as bob:
        named = await ann.upload(b"named", "notes.txt")
        await ann.send(town.bob, "look", attachments=[path, str(path), b"bare", stream(), named])
        async for message in bob.receive(within=5):
            found = message.attachments
            assert [(one.name, one.type, one.size) for one in found] == [
                ("report.pdf", "application/pdf", len(BIG)),
                ("report.pdf", "application/pdf", len(BIG)),
                (hashlib.sha256(b"bare").hexdigest()[:16], "application/octet-stream", 4),
                (hashlib.sha256(b"piece by piece").hexdigest()[:16], "application/octet-stream", 14),
                ("notes.txt", "text/plain", 5),
            ]
            saved = [await bob.save(one, tmp_path) for one in found]
            assert [one.name for one in saved[:2]] == ["report (2).pdf", "report (3).pdf"]
            assert [one.read_bytes() for one in saved] == [BIG, BIG, b"bare", b"piece by piece", b"named"]
            assert b"".join([piece async for piece in bob.pieces(found[0])]) == BIG
            await message.reply("back to you", attachments=found[-1:])
            break
        (answer,) = [message async for message in ann.receive(within=0.5)]
        assert answer.attachments == (named,)
    assert not list(tmp_path.glob(".*.part"))


async def test_answers_that_are_lost_cost_nothing(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every call's first answer is lost, also the one that says that all has come."""
    async with box_of(town, town.ann) as ann:
        ask, asked = ann._wire._ask, set()

        async def lose(method: str, path: str, content: bytes | None, query: Any, within: float, said: Any) -> Any:
            answer = await ask(method, path, content, query, within, said)
            key = (method, path, said.get("Upload-Offset"), said.get("Range"))
            if method in ("PATCH", "GET") and key not in asked:
                asked.add(key)
                raise NoAnswer(server="lost")
            return answer

        monkeypatch.setattr(ann._wire, "_ask", lose)
        found = await ann.upload(BIG, "big")
        assert found == Attachment(f"sha256:{hashlib.sha256(BIG).hexdigest()}", "big", "application/octet-stream", len(BIG))
        assert b"".join([piece async for piece in ann.pieces(found)]) == BIG


async def test_what_a_letter_says_of_itself_is_not_believed(town: Town, tmp_path: Path) -> None:
    async with box_of(town, town.ann) as ann:
        found = await ann.upload(b"these bytes")
        for name in ("../x", "a/b", "CON", "a\u202eb"):
            with pytest.raises(Invalid):
                await ann.save(Attachment(found.digest, name, found.type, found.size), tmp_path)
        with pytest.raises(DigestMismatch):
            await ann.save(Attachment(found.digest, "x", found.type, found.size - 1), tmp_path)
        with pytest.raises(NoSuchAttachment):
            await ann.save(Attachment(f"sha256:{'0' * 64}", "x", found.type, 5), tmp_path)
        with pytest.raises(BadSetting):
            await ann.save(found, tmp_path / "nowhere")
        with pytest.raises(BadSetting):
            await ann.upload(tmp_path / "nothing")
    assert not await asyncio.to_thread(lambda: list(tmp_path.iterdir()))

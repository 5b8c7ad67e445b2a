"""Files at the page: brought for a letter, looked at where that is safe, and saved."""

import struct
import zlib
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import expect

from postoffice.core.attachment import Attachment
from postoffice.core.draft import Draft
from tests.doors.served import serving
from tests.engines import SQLiteEngine
from tests.mail import people
from tests.office.test_attachments import bring
from tests.page.lookout import Lookout


def picture() -> bytes:
    """A PNG of one red dot."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0\xff\0\0")) + chunk(b"IEND", b"")


async def test_pictures_and_text_are_looked_at_and_all_else_only_saved(tmp_path: Path) -> None:
    evil = b"<script>alert(1)</script>"
    async with serving(SQLiteEngine(tmp_path)) as served, served.client() as http:
        office = served.office
        alice, _ = await people(office, "alice", "bob")
        files = [
            await bring(office, alice, data, name) for data, name in ((picture(), "dot.png"), (evil, "x.html"), (b"\x00\x01", "x.bin"))
        ]
        carried = [Attachment(one.digest, one.name, kind) for one, kind in zip(files, ("image/png", "text/html", "image/png"), strict=True)]
        sent = await office.send(alice, Draft(to="bob", subject="s", content="look", attachments=tuple(carried)))
        path = f"/page/letter/{sent.message_id}/file"
        page = (await http.get(f"/page/letter/{sent.message_id}")).text
        assert f'<img src="{path}/0?show=1" alt="dot.png" loading="lazy">' in page
        shown = [await http.get(f"{path}/{place}?show=1") for place in range(3)]
        assert [(one.status_code, one.headers["content-type"]) for one in shown] == [
            (200, "image/png"),
            (200, "text/plain; charset=utf-8"),
            (404, "text/html; charset=utf-8"),
        ]
        assert shown[1].content == evil
        for one in shown[:2]:
            assert one.headers["x-content-type-options"] == "nosniff"
            assert any("sandbox" in policy for policy in one.headers.get_list("content-security-policy"))
        saved = await http.get(f"{path}/1")
        assert (saved.content, saved.headers["content-type"]) == (evil, "application/octet-stream")
        assert saved.headers["content-disposition"].startswith("attachment;")
        assert [(await http.get(f"{path}/{place}")).status_code for place in ("3", "-1", "x")] == [404, 404, 404]


async def test_only_the_page_itself_brings_files(tmp_path: Path) -> None:
    async with serving(SQLiteEngine(tmp_path)) as served, served.client() as http:
        foreign: dict[str, str]
        for foreign in ({"Sec-Fetch-Site": "cross-site"}, {}):
            assert (await http.post("/page/attachments", content=b"x", headers=foreign)).status_code == httpx.codes.FORBIDDEN
        own = {"Sec-Fetch-Site": "same-origin"}
        brought = (await http.post("/page/attachments?name=x.txt", content=b"x", headers=own)).raise_for_status().json()
        form = {"to": "bob", "content": "", "subject": "s", "as": "carol", "attachment": brought["digest"], "new": "bob"}
        await people(served.office, "carol", "bob")
        (await http.post("/page/compose", data=form, headers=own, follow_redirects=True)).raise_for_status()
        _, bob = await people(served.office, "carol", "bob")
        (letter,) = (await served.office.receive(bob, 10)).leased
        assert [(one.name, one.size) for one in letter.message.attachments] == [("x.txt", 1)]
        assert letter.message.sender == "carol"


@pytest.mark.timeout(300)
def test_a_person_attaches_a_picture_and_sees_it(lookout: Lookout, tmp_path: Path) -> None:
    (tmp_path / "dot.png").write_bytes(picture())
    page = lookout.go("/page/compose")
    page.get_by_label("To", exact=True).fill("owner")
    page.get_by_label("Message").fill("see this")
    page.get_by_label("Files").set_input_files(tmp_path / "dot.png")
    expect(page.locator("[data-brought] li")).to_have_text("dot.png")
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("link", name="dot.png")).to_be_visible()

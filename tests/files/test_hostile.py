"""Trees that nobody should make: nothing is followed, nothing hangs, and everybody else is served on."""

import asyncio
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from postoffice.bridges.files import directory
from postoffice.bridges.files.tree import Tree
from postoffice.core.errors import FilesInUse
from postoffice_files import MailboxManager
from tests.doors.callers import Callers, send
from tests.doors.served import Served, serving
from tests.engines import SQLiteEngine
from tests.files.agent import FileAgent, drop, set_aside, text_of
from tests.files.conftest import Settle
from tests.files.waiting import arrived, stands
from tests.proof.disk import small_disk
from tests.proof.patience import until
from tests.serve.running import COMMAND, free_port, run
from tests.serve.running import serving as running

Make = Callable[[Path], Any]
WHOLE = {"from": "coder", "content": "whole"}


async def goes_on(served: Served, root: Path) -> None:
    """Mail crosses in both directions, for those who come first and last in the alphabet."""
    async with Callers(served) as callers:
        for name in ("aaron", "zoe"):
            resident = FileAgent(root, f"{name}-files").join()
            (visitor,) = await callers.named(name)
            sent = await send(visitor, resident.name, f"to {name}")
            assert [text_of(message) for message in await resident.take()] == [f"to {name}"]
            await stands(visitor, sent["message_id"], "acked")
            resident.send(name, f"from {name}")
            assert [letter["content"] for letter in await arrived(visitor)] == [f"from {name}"]


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Nothing can be written there for a while, not even by root."""
    mount = ["mount", "--bind", str(folder), str(folder)]
    subprocess.run(mount, check=True, timeout=30)
    try:
        subprocess.run(["mount", "-o", "remount,bind,ro", str(folder)], check=True, timeout=30)
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True, timeout=30)


def below(name: str, folder: str, make: Make) -> Make:
    """Something odd in an agent's folder."""

    def both(root: Path) -> None:
        drop(root, name, WHOLE)
        shutil.rmtree(root / name / folder, ignore_errors=True)
        make(root / name / folder)

    return both


def locked_by(make: Make) -> Make:
    """Something odd in place of the bridge's lock."""

    def both(root: Path) -> None:
        root.mkdir()
        make(root / "_bridge.lock")

    return both


def watches() -> int:
    """How many folders the system watches for this process."""
    told = [path.read_text() for path in Path("/proc/self/fdinfo").iterdir() if os.access(path, os.R_OK)]
    return sum(text.count("inotify wd") for text in told)


FILES: dict[str, tuple[str, Make, str]] = {
    "a link to a message": ("01.msg.json", lambda path: path.symlink_to(path.parent / "whole.msg.json"), "symbolic link"),
    "a link to a device": ("02.msg.json", lambda path: path.symlink_to("/dev/zero"), "symbolic link"),
    "a link to nothing": ("03.msg.json", lambda path: path.symlink_to("nothing"), "symbolic link"),
    "a link to itself": ("04.msg.json", lambda path: path.symlink_to(path.name), "symbolic link"),
    "a named pipe": ("05.msg.json", os.mkfifo, "a named pipe"),
    "a folder": ("06.msg.json", lambda path: (path / "inbox").mkdir(parents=True), "a folder"),
    "too large": ("07.msg.json", lambda path: path.write_bytes(b'{"from":"coder","content":"' + b"x" * (17 << 20)), "more than the"),
    "torn": ("08.msg.json", lambda path: path.write_text('{"from": "coder", "conte'), "not JSON"),
    "empty": ("09.msg.json", lambda path: path.write_text(""), "empty"),
    "in UTF-16": ("10.msg.json", lambda path: path.write_bytes(json.dumps(WHOLE).encode("utf-16")), "not UTF-8"),
    "no object": ("11.msg.json", lambda path: path.write_text("[1]"), "not an object"),
    "bottomless": ("12.msg.json", lambda path: path.write_text("[" * 100_000), "nested deeper"),
    "for somebody else": ("13.msg.json", lambda path: path.write_text(json.dumps(WHOLE | {"to": "bob"})), "addressed to"),
    "from a path": ("14.msg.json", lambda path: path.write_text(json.dumps(WHOLE | {"from": "../../etc"})), "from"),
    "called with dots": ("a..b.msg.json", lambda path: path.write_text(json.dumps(WHOLE)), "name"),
    "called otherwise": ("notes.txt", lambda path: path.write_text(json.dumps(WHOLE)), "name"),
    "called in another script": ("ż🙂.msg.json", lambda path: path.write_text(json.dumps(WHOLE)), "name"),
}
FOLDERS: tuple[Make, ...] = (
    lambda root: (root / "m01").symlink_to("/etc"),
    lambda root: (root / "m02").symlink_to("m02"),
    lambda root: (root / "m03").write_text("no folder"),
    lambda root: os.mkfifo(root / "m04"),
    lambda root: (root / ".git" / "inbox").mkdir(parents=True),
    lambda root: (root / "lost and found" / "inbox").mkdir(parents=True),
    lambda root: (root / "m..m." / "inbox").mkdir(parents=True),
    lambda root: (root / "nul.txt" / "inbox").mkdir(parents=True),
    lambda root: drop(root, "-m", WHOLE),
    below("m05", "inbox", lambda path: path.symlink_to("/etc")),
    below("m06", "inbox", lambda path: path.write_text("x")),
    below("m07", "inbox", os.mkfifo),
    below("m08", "claims", lambda path: path.symlink_to("/etc")),
    below("m09", "bad", lambda path: path.write_text("x")),
    lambda root: drop(root, "owner", WHOLE),
    lambda root: drop(root, "system", WHOLE),
    lambda root: drop(root, "me", WHOLE),
)
REASONS: tuple[Make, ...] = (
    os.mkfifo,
    lambda path: path.symlink_to("/dev/zero"),
    lambda path: path.mkdir(),
    lambda path: path.write_text("torn {"),
    lambda path: path.write_text(json.dumps({"reason": "y" * 5_000})),
    lambda path: path.write_text(json.dumps({"reason": "nul \0 here"})),
    lambda path: path.write_text(json.dumps({"reason": ["no", "text"]})),
    lambda path: path.write_bytes(b"x" * (1 << 20)),
)
CARDS = ('"text"', "null", "[]", '{"home": 5}', '{"description": 7, "allow_from": "all"}', '{"last_heartbeat": {}, "status": []}')


class TestFiles:
    async def test_what_is_no_message_is_set_aside_with_the_reason(self, desk: Served, at_home: Settle, root: Path) -> None:
        at_home("coder")
        inbox = drop(root, "alice", WHOLE, "whole.msg.json").parent
        for name, make, _ in FILES.values():
            make(inbox / name)
        reasons = await set_aside(root, "alice", len(FILES))
        expected = [why for *_, why in FILES.values()]
        for reason in reasons:
            expected.remove(next(why for why in expected if why in reason))
        await goes_on(desk, root)
        async with desk.client(name="alice") as alice:
            assert [letter["content"] for letter in await arrived(alice)] == ["whole"]

    async def test_a_file_agent_s_own_inbox_is_looked_at_and_left_to_it(self, desk: Served, at_home: Settle, root: Path) -> None:
        coder = at_home("coder")
        for name, make, _ in FILES.values():
            make(coder.home / "inbox" / name)
        await goes_on(desk, root)
        assert len(list((coder.home / "inbox").iterdir())) == len(FILES)
        assert not list((coder.home / "bad").iterdir())


class TestFolders:
    @pytest.mark.parametrize("when", ["before", "meanwhile"])
    async def test_odd_folders_keep_nobody_else_from_being_served(self, tmp_path: Path, root: Path, when: str) -> None:
        root.mkdir()
        if when == "before":
            for make in FOLDERS:
                make(root)
        async with serving(SQLiteEngine(tmp_path), files=root) as served:
            if when == "meanwhile":
                for make in FOLDERS:
                    make(root)
            await goes_on(served, root)

    async def test_what_lies_behind_a_link_is_not_watched(self, tmp_path: Path, root: Path) -> None:
        """A link to a whole disk would take all watches the system has, and keep the office waiting until they are set."""
        for n in range(500):
            (tmp_path / "large" / str(n)).mkdir(parents=True)
        for folder in (root, root / "m" / "inbox", root / "m" / "processed"):
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "link").symlink_to(tmp_path / "large")
        async with serving(SQLiteEngine(tmp_path), files=root) as served:
            await goes_on(served, root)
            assert 0 < watches() < 50

    async def test_mail_to_an_agent_whose_folder_is_a_link_is_dead_and_its_sender_told(
        self, desk: Served, at_home: Settle, root: Path, tmp_path: Path
    ) -> None:
        at_home("coder")
        async with Callers(desk) as callers:
            (alice,) = await callers.named("alice")
            first = await send(alice, "coder", "first")
            coder = await desk.office.lending.guest("coder")

            async def handed_over() -> bool:
                return any(lent.where for lent in (await desk.office.lending.lent(coder, None)).items)

            await until(handed_over)  # and known to be
            (root / "coder").rename(tmp_path / "elsewhere")
            (root / "coder").symlink_to(tmp_path / "elsewhere")
            second = await send(alice, "coder", "second")
            assert "symbolic link" in (await stands(alice, second["message_id"], "dead"))["reason"]
            assert [letter["reply_to"] for letter in await arrived(alice)] == [second["message_id"]]
            # What lies behind the link is not looked at: nothing is known of the first.
            await stands(alice, first["message_id"], "leased")
        assert len(list((tmp_path / "elsewhere" / "inbox").iterdir())) == 1
        await goes_on(desk, root)

    async def test_a_bug_that_one_folder_meets_keeps_nobody_else_from_being_served(
        self, desk: Served, root: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        poll = MailboxManager.poll

        def stumble(mail: MailboxManager, agent: str, **named: Any) -> list[dict[str, Any]]:
            if agent == "m":
                raise OverflowError
            return poll(mail, agent, **named)

        monkeypatch.setattr(MailboxManager, "poll", stumble)
        drop(root, "m", WHOLE)
        await goes_on(desk, root)

    async def test_cards_that_are_none_harm_nobody(self, desk: Served, root: Path) -> None:
        FileAgent(root, "coder").join()
        odd = ", ".join(f'"odd{number}": {card}, "../up{number}": {card}' for number, card in enumerate(CARDS))
        (root / "_registry.json").write_text(f'{{{odd}, "two words": {{}}, "owner": {{}}, "": {{}}}}')
        await goes_on(desk, root)

    async def test_whatever_its_reader_left_as_the_reason_it_is_dead(self, desk: Served, at_home: Settle, root: Path) -> None:
        coder = at_home("coder")
        async with Callers(desk) as callers:
            (alice,) = await callers.named("alice")
            sent = [await send(alice, "coder") for _ in REASONS]
            await until(lambda: len(coder.waiting) == len(REASONS))
            for path, make in zip(coder.waiting, REASONS, strict=True):
                make(coder.home / "bad" / f"{path.name}.reason.json")
                path.rename(coder.home / "bad" / path.name)
            for one in sent:
                assert (await stands(alice, one["message_id"], "dead"))["reason"]
        await goes_on(desk, root)


class TestTheRoot:
    async def test_a_root_that_is_removed_and_made_again_is_served_again(self, desk: Served, at_home: Settle, root: Path) -> None:
        coder = at_home("coder")
        async with Callers(desk) as callers:
            (alice,) = await callers.named("alice")
            sent = await send(alice, "coder", "unread")
            await until(lambda: coder.waiting)
            root.rename(root.with_name("removed"))
            shutil.rmtree(root.with_name("removed"))
            coder.join()
            # Nobody had handled it: it is written again.
            assert [text_of(message) for message in await coder.take()] == ["unread"]
            await stands(alice, sent["message_id"], "acked")
        await goes_on(desk, root)

    async def test_what_was_handed_over_in_another_root_is_handed_over_in_this_one(self, tmp_path: Path) -> None:
        one, other = FileAgent(tmp_path / "one", "coder").join(), FileAgent(tmp_path / "other", "coder").join()
        engine = SQLiteEngine(tmp_path)
        async with serving(engine, files=tmp_path / "one") as served, Callers(served) as callers:
            (alice,) = await callers.named("alice")
            sent = await send(alice, "coder", "where is home?")
            await until(lambda: one.waiting)
        async with serving(engine, files=tmp_path / "other") as served:
            await until(lambda: other.waiting)
        async with serving(engine, files=tmp_path / "one") as served, Callers(served) as callers:
            (alice,) = await callers.named("alice")
            assert [text_of(message) for message in await one.take()] == ["where is home?"]
            await stands(alice, sent["message_id"], "acked")
        assert one.waiting == []

    async def test_a_root_that_is_back_before_another_could_be_taken_is_still_served_by_one_alone(self, root: Path) -> None:
        """Its lock was let go of when it went, and not taken again when the very same root came back."""
        one, other, third = Tree(root), Tree(root), Tree(root)
        await one.open()
        root.rename(root.with_name("away"))
        await other.open()
        with pytest.raises(FilesInUse):
            await one.renew()
        await other.close()
        shutil.rmtree(root)
        root.with_name("away").rename(root)
        await one.renew()
        with pytest.raises(FilesInUse):
            await third.open()
        await one.close()
        await third.close()

    async def test_a_root_that_is_taken_away_is_waited_for_and_doubles_nothing(
        self, desk: Served, at_home: Settle, root: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Another one was made in its place, where nobody was at home: what lay in the first came a second time when that was back."""
        monkeypatch.setattr(directory, "_CARDLESS_SECONDS", 0.5)
        coder = at_home("coder")
        async with Callers(desk) as callers:
            (alice,) = await callers.named("alice")
            lying = await send(alice, "coder", "before")
            await until(lambda: coder.waiting)
            root.rename(root.with_name("away"))
            coming = await send(alice, "coder", "meanwhile")
            await asyncio.sleep(1.5)  # and everybody whose card is gone would have moved out
            assert not root.exists()
            root.with_name("away").rename(root)
            assert [text_of(message) for message in await coder.take(2)] == ["before", "meanwhile"]
            for one in (lying, coming):
                await stands(alice, one["message_id"], "acked")
            assert coder.waiting == []
        await goes_on(desk, root)

    async def test_a_root_behind_a_link_is_the_operator_s_choice(self, tmp_path: Path, root: Path) -> None:
        (tmp_path / "real").mkdir()
        root.symlink_to(tmp_path / "real")
        async with serving(SQLiteEngine(tmp_path), files=root) as served:
            await goes_on(served, root)

    async def test_a_root_that_cannot_be_written_for_a_while_loses_nothing(self, tmp_path: Path) -> None:
        root = tmp_path / "mailboxes"
        coder = FileAgent(root, "coder").join()
        async with serving(SQLiteEngine(tmp_path), files=root) as served, Callers(served) as callers:
            (alice,) = await callers.named("alice")
            await send(alice, "coder", "before")
            await until(lambda: coder.waiting)
            with read_only(root):
                sent = await send(alice, "coder", "meanwhile")
                await stands(alice, sent["message_id"], "leased")
                assert len(coder.waiting) == 1
            assert [text_of(message) for message in await coder.take(2)] == ["before", "meanwhile"]
            await stands(alice, sent["message_id"], "acked")
            await goes_on(served, root)

    async def test_a_full_disk_loses_nothing(self, tmp_path: Path) -> None:
        with small_disk(tmp_path / "disk", "4m") as disk:
            root = disk.folder / "mailboxes"
            coder = FileAgent(root, "coder").join()
            async with serving(SQLiteEngine(tmp_path), files=root) as served, Callers(served) as callers:
                (alice,) = await callers.named("alice")
                await send(alice, "coder", "before")
                await until(lambda: coder.waiting)
                disk.fill()
                sent = await send(alice, "coder", "x" * 9_000)
                await stands(alice, sent["message_id"], "leased")
                assert len(coder.waiting) == 1
                disk.free()
                assert [len(text_of(message)) for message in await coder.take(2)] == [6, 9_000]
                await stands(alice, sent["message_id"], "acked")


class TestTheCommand:
    def serve(self, tmp_path: Path, *arguments: str, **extra: str) -> subprocess.CompletedProcess[str]:
        return run("serve", "--port", "0", "--data", "other", *arguments, here=tmp_path, extra=extra)

    def test_a_second_office_on_the_same_files_is_told_in_one_line(self, tmp_path: Path) -> None:
        port = free_port()
        command = (*COMMAND, "serve", "--port", str(port), "--data", "kept", "--files", "mailboxes")
        with running(*command, port=port, here=tmp_path):
            ended = self.serve(tmp_path, "--files", "mailboxes")
        assert ended.returncode == 69
        assert ended.stderr == (
            f"postoffice: Another office serves the files in {tmp_path / 'mailboxes'}; stop it, or give this one files of its own.\n"
        )

    @pytest.mark.parametrize("missing", ["watchfiles", "postoffice_files"])
    def test_without_the_extra_it_says_what_to_install(self, tmp_path: Path, missing: str) -> None:
        hidden = tmp_path / "hidden"
        hidden.mkdir()
        (hidden / "sitecustomize.py").write_text(
            "import importlib.util as util\nfind = util.find_spec\n"
            f"util.find_spec = lambda name, *rest: None if name == {missing!r} else find(name, *rest)\n"
        )
        path = os.pathsep.join(filter(None, [str(hidden), os.environ.get("PYTHONPATH")]))
        ended = self.serve(tmp_path, "--files", "mailboxes", PYTHONPATH=path)
        assert "postoffice[files]" in ended.stderr
        assert ended.stderr.count("\n") == 1
        assert ended.returncode == 69

    @pytest.mark.parametrize(
        ("make", "code", "why"),
        [
            (lambda path: path.write_text("x"), 74, "exists"),
            (locked_by(os.mkfifo), 65, "a named pipe"),
            (locked_by(lambda path: path.symlink_to("nowhere")), 65, "a symbolic link"),
            (lambda path: path.symlink_to("/proc/nowhere"), 74, ""),
        ],
        ids=["a file", "a pipe for its lock", "a link for its lock", "a link to nowhere"],
    )
    def test_a_root_that_cannot_be_one_is_told_in_one_line(self, tmp_path: Path, make: Make, code: int, why: str) -> None:
        make(tmp_path / "mailboxes")
        ended = self.serve(tmp_path, "--files", "mailboxes")
        assert "Traceback" not in ended.stderr
        assert why in ended.stderr
        assert ended.stderr.count("\n") == 1
        assert ended.returncode == code

    def test_a_read_only_root_is_told_in_one_line(self, tmp_path: Path) -> None:
        with small_disk(tmp_path / "disk", "1m") as disk:
            disk.remount("ro")
            ended = self.serve(tmp_path, "--files", "disk/mailboxes")
        assert "Read-only" in ended.stderr
        assert ended.stderr.count("\n") == 1
        assert ended.returncode == 74

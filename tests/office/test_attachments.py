"""Attachments: bytes beside the mail, for those only who brought them or have a letter with them."""

import asyncio
import hashlib
from collections.abc import AsyncIterator
from datetime import timedelta

import asyncpg
import pytest

from postoffice.core.agent import Caller
from postoffice.core.attachment import Attachment, Kept, Upload
from postoffice.core.draft import Draft
from postoffice.core.errors import (
    BadDigest,
    BadMessage,
    DigestMismatch,
    DiskFull,
    Invalid,
    MailError,
    NoSuchAttachment,
    NoSuchUpload,
    QuotaSpent,
    TooLarge,
    TooManyUploads,
    WrongLength,
    WrongOffset,
)
from postoffice.core.message import TASK
from postoffice.core.names import OWNER
from postoffice.core.task import TaskState
from postoffice.office import PostOffice
from tests.engines import Engine, PostgresEngine, SQLiteEngine
from tests.mail import ask, office_with, people, take, taken

WEEK = timedelta(days=7)
DAY = timedelta(days=1)
DATA = bytes(range(256)) * 20_000  # more than two parts


def digest(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


async def chunks(data: bytes, size: int = 70_000) -> AsyncIterator[bytes]:
    for begin in range(0, len(data), size):
        yield data[begin : begin + size]


async def cut(data: bytes) -> AsyncIterator[bytes]:
    """Comes as far as this, and then no more."""
    async for chunk in chunks(data):
        yield chunk
    raise ConnectionResetError


async def bring(office: PostOffice, caller: Caller, data: bytes = DATA, name: str = "report.pdf", said: str = "") -> Attachment:
    return await office.attachments.upload(caller, Attachment(said, name), None, chunks(data))


async def fetched(office: PostOffice, caller: Caller, named: str, begin: int = 0, end: int | None = None) -> bytes:
    kept = await office.attachments.fetch(caller, named)
    return b"".join([piece async for piece in office.attachments.read(kept, begin, end)])


async def post(office: PostOffice, sender: Caller, to: str, *carried: Attachment, **more: object) -> str:
    accepted = await office.send(sender, Draft(to=to, subject="s", content="see there", attachments=carried, **more))  # type: ignore[arg-type]
    return accepted.message_id


async def refused(office: PostOffice, caller: Caller, named: str) -> bool:
    try:
        await office.attachments.fetch(caller, named)
    except NoSuchAttachment:
        return True
    return False


class TestCarried:
    async def test_who_sends_and_who_gets_a_letter_may_fetch_and_nobody_else(self, office: PostOffice) -> None:
        alice, bob, carol = await people(office, "alice", "bob", "carol")
        brought = await bring(office, alice)
        assert brought == Attachment(digest(DATA), "report.pdf", "application/octet-stream", len(DATA))
        assert await refused(office, bob, brought.digest)
        await post(office, alice, "bob", Attachment(brought.digest))
        leased = await take(office, bob)
        assert leased.message.attachments == (brought,)
        assert await fetched(office, bob, brought.digest) == DATA
        assert await fetched(office, alice, brought.digest.removeprefix("sha256:").upper()) == DATA
        assert await fetched(office, bob, brought.digest, 2_097_000, 2_097_300) == DATA[2_097_000:2_097_300]
        assert await refused(office, carol, brought.digest)
        the_owner = Caller(name=OWNER, verified=True, owner=True)
        assert await fetched(office, the_owner, brought.digest) == DATA

    async def test_a_stranger_is_told_of_what_is_here_the_same_as_of_what_is_not(self, office: PostOffice) -> None:
        alice, eve = await people(office, "alice", "eve")
        brought = await bring(office, alice)
        there, nowhere = brought.digest, digest(b"never")
        said = []
        for named in (there, nowhere):
            for attempt in (office.attachments.fetch(eve, named), post(office, eve, "alice", Attachment(named))):
                with pytest.raises(NoSuchAttachment) as refusal:
                    await attempt
                said.append(str(refusal.value).replace(named, "it"))
        assert len(set(said)) == 1

    async def test_a_forward_carries_what_it_passes_on(self, office: PostOffice) -> None:
        alice, bob, carol = await people(office, "alice", "bob", "carol")
        brought, own = await bring(office, alice), await bring(office, bob, b"my notes", "notes.txt")
        id = await post(office, alice, "bob", brought)
        await office.send(bob, Draft(to="carol", content="look", forward_of=id, attachments=(own,)))
        assert await fetched(office, carol, brought.digest) == DATA
        assert await fetched(office, carol, own.digest) == b"my notes"

    async def test_who_got_it_may_send_it_on_under_its_name_or_another(self, office: PostOffice) -> None:
        alice, bob, carol = await people(office, "alice", "bob", "carol")
        brought = await bring(office, alice)
        await post(office, alice, "bob", brought)
        await post(office, bob, "carol", Attachment(brought.digest), Attachment(brought.digest, "copy.pdf", "application/pdf", 7))
        letter = await take(office, carol)
        assert [(one.name, one.type, one.size) for one in letter.message.attachments] == [
            ("report.pdf", "application/octet-stream", len(DATA)),
            ("copy.pdf", "application/pdf", len(DATA)),
        ]

    async def test_a_letter_that_waits_for_its_time_gives_its_recipient_nothing_yet(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        brought = await bring(office, alice)
        await post(office, alice, "bob", brought, deliver_at=timedelta(hours=1))
        assert await refused(office, bob, brought.digest)
        with pytest.raises(NoSuchAttachment):
            await post(office, bob, "alice", brought)

    async def test_of_a_role_whoever_took_the_letter_fetches_and_sends_it_on(self, office: PostOffice) -> None:
        alice, bob, carol = await people(office, "alice", "bob", "carol")
        await office.roles.make(alice, "role:reviewer", ("bob", "carol"))
        brought = await bring(office, alice)
        await post(office, alice, "role:reviewer", brought)
        assert [one.message.attachments for one in (await office.receive(bob, 1)).leased] == [(brought,)]
        assert await fetched(office, bob, brought.digest) == DATA
        assert await refused(office, carol, brought.digest)
        await post(office, bob, "carol", brought)
        assert await fetched(office, carol, brought.digest) == DATA

    async def test_a_result_of_a_task_carries_some(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        task = (await ask(office, alice, "bob")).message_id
        brought = await bring(office, bob)
        report = Draft(to="alice", content="done", attachments=(Attachment(brought.digest),))
        await office.update_task(bob, task, TaskState.COMPLETED, report)
        update = await take(office, alice)
        assert update.message.attachments == (brought,)
        assert await fetched(office, alice, brought.digest) == DATA
        other = (await ask(office, alice, "bob")).message_id
        with pytest.raises(BadMessage):
            await office.update_task(alice, other, TaskState.CANCELED, report)

    async def test_a_letter_may_carry_something_and_say_nothing_but_not_carry_without_end(self, office: PostOffice) -> None:
        alice, _ = await people(office, "alice", "bob")
        brought = await bring(office, alice, b"x", "x")
        await office.send(alice, Draft(to="bob", type=TASK, attachments=(brought,)))
        await post(office, alice, "bob", *[brought] * 100)
        with pytest.raises(BadMessage):
            await post(office, alice, "bob", *[brought] * 101)

    @pytest.mark.parametrize(
        "name",
        [
            "../x",
            "a/b",
            "a\\b",
            "C:x",
            "..",
            ".",
            "NUL",
            "com1.txt",
            "a\u202etxt.exe",
            "a\nb",
            "a\x00b",
            "a\u200b",
            " a",
            "a ",
            "a.",
            "n" * 256,
        ],
    )
    async def test_a_name_that_misleads_or_harms_is_refused(self, office: PostOffice, name: str) -> None:
        (alice,) = await people(office, "alice")
        with pytest.raises(Invalid):
            await bring(office, alice, b"x", name)
        brought = await bring(office, alice, b"x", "x")
        with pytest.raises(Invalid):
            await post(office, alice, "alice", Attachment(brought.digest, name))

    async def test_what_is_no_digest_is_said_to_be_none(self, office: PostOffice) -> None:
        (alice,) = await people(office, "alice")
        for named in ("", "x", "../../etc/passwd", "md5:abc", "g" * 64):
            with pytest.raises(BadDigest):
                await office.attachments.fetch(alice, named)

    async def test_the_same_letter_sent_again_is_one_letter(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        brought = await bring(office, alice)
        first = await post(office, alice, "bob", brought, client_id="mine")
        assert await post(office, alice, "bob", brought, client_id="mine") == first
        assert len(await taken(office, bob)) == 1


class TestUploaded:
    async def test_bytes_are_stored_once_and_nobody_notices(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        first, second = await bring(office, alice), await bring(office, bob)
        assert first == second
        one, other = await office.attachments.fetch(alice, first.digest), await office.attachments.fetch(bob, first.digest)
        assert one.upload == other.upload
        await office.store.sweeps.delete_rubbish()
        assert await fetched(office, bob, first.digest) == DATA

    async def test_many_who_bring_the_same_at_once_all_have_it(self, office: PostOffice) -> None:
        callers = await people(office, *[f"agent{n}" for n in range(8)])
        brought = await asyncio.gather(*[bring(office, caller) for caller in callers])
        assert len(set(brought)) == 1
        await office.store.sweeps.delete_rubbish()
        assert all([await fetched(office, caller, brought[0].digest) == DATA for caller in callers])

    async def test_other_bytes_than_said_are_not_kept(self, office: PostOffice) -> None:
        (alice,) = await people(office, "alice")
        with pytest.raises(DigestMismatch):
            await bring(office, alice, said=digest(b"something else"))
        assert await refused(office, alice, digest(DATA))
        assert (await office.attachments.mine(alice))[1] == 0

    async def test_one_that_is_cut_goes_on_where_it_stood(self, office: PostOffice) -> None:
        (alice,) = await people(office, "alice")
        upload = await office.attachments.begin(alice, Attachment(digest(DATA), "big.bin"), len(DATA))
        for end in (10, 100_000, 3_000_000, 4_999_999):
            with pytest.raises(ConnectionResetError):
                await office.attachments.go_on(alice, upload.id, upload.offset, cut(DATA[upload.offset : end]))
            upload = await office.attachments.under_way(alice, upload.id)
            assert upload.offset == end
        done = await office.attachments.go_on(alice, upload.id, upload.offset, chunks(DATA[upload.offset :]))
        assert done == Attachment(digest(DATA), "big.bin", "application/octet-stream", len(DATA))
        assert await fetched(office, alice, done.digest) == DATA
        with pytest.raises(NoSuchUpload):
            await office.attachments.under_way(alice, upload.id)

    async def test_it_goes_on_in_another_process_of_the_office(self, engine: Engine) -> None:
        async with office_with(engine) as office:
            (alice,) = await people(office, "alice")
            upload = await office.attachments.begin(alice, Attachment(digest(DATA)), len(DATA))
            await office.attachments.go_on(alice, upload.id, 0, chunks(DATA[:3_000_000]))
        async with office_with(engine) as office:
            done = await office.attachments.go_on(alice, upload.id, 3_000_000, chunks(DATA[3_000_000:]))
            assert isinstance(done, Attachment)
            assert (done.digest, done.name) == (digest(DATA), digest(DATA)[7:23])
            assert await fetched(office, alice, done.digest) == DATA

    async def test_of_two_who_go_on_at_once_one_is_told_where_it_stands(self, office: PostOffice) -> None:
        (alice,) = await people(office, "alice")
        upload = await office.attachments.begin(alice, Attachment(digest(DATA)), len(DATA))
        outcomes = await asyncio.gather(
            *[office.attachments.go_on(alice, upload.id, 0, chunks(half)) for half in (DATA[:3_000_000], DATA[:2_500_000])],
            return_exceptions=True,
        )
        assert [type(outcome) for outcome in outcomes if not isinstance(outcome, Upload)] == [WrongOffset]
        (kept,) = [outcome for outcome in outcomes if isinstance(outcome, Upload)]
        done = await office.attachments.go_on(alice, upload.id, kept.offset, chunks(DATA[kept.offset :]))
        assert isinstance(done, Attachment)
        assert await fetched(office, alice, done.digest) == DATA

    async def test_what_could_not_be_written_leaves_no_gap(self, office: PostOffice, monkeypatch: pytest.MonkeyPatch) -> None:
        (alice,) = await people(office, "alice")
        upload = await office.attachments.begin(alice, Attachment(digest(DATA)), len(DATA))
        put, calls = office.store.depot.put, iter(range(100))

        async def sometimes(upload: str, name: str, data: bytes) -> None:
            if next(calls) == 1:
                raise DiskFull
            await put(upload, name, data)

        monkeypatch.setattr(office.store.depot, "put", sometimes)
        with pytest.raises(DiskFull):
            await office.attachments.go_on(alice, upload.id, 0, chunks(DATA))
        upload = await office.attachments.under_way(alice, upload.id)
        assert upload.offset == 2 << 20
        done = await office.attachments.go_on(alice, upload.id, upload.offset, chunks(DATA[upload.offset :]))
        assert isinstance(done, Attachment)
        assert await fetched(office, alice, done.digest) == DATA

    async def test_more_than_said_or_elsewhere_or_another_agents_is_refused(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        upload = await office.attachments.begin(alice, Attachment(""), 10)
        with pytest.raises(WrongOffset):
            await office.attachments.go_on(alice, upload.id, 5, chunks(b"x"))
        with pytest.raises(WrongLength):
            await office.attachments.go_on(alice, upload.id, 0, chunks(b"x" * 11))
        for id in (upload.id, "nonsense", "../x"):
            with pytest.raises(NoSuchUpload):
                await office.attachments.go_on(bob, id, 0, chunks(b"x"))
        await office.attachments.drop(alice, upload.id)
        with pytest.raises(NoSuchUpload):
            await office.attachments.go_on(alice, upload.id, 0, chunks(b"x"))

    async def test_none_is_larger_than_allowed_and_nobody_keeps_more_than_its_quota(self, engine: Engine) -> None:
        async with office_with(engine, attachment_bytes=1000, attachment_quota=2500) as office:
            alice, bob = await people(office, "alice", "bob")
            with pytest.raises(TooLarge):
                await bring(office, alice, b"x" * 1001)
            with pytest.raises(TooLarge):
                await office.attachments.begin(alice, Attachment(""), 1001)
            first = await bring(office, alice, b"a" * 1000)
            await bring(office, alice, b"a" * 1000)  # which it keeps already
            await office.attachments.begin(alice, Attachment(""), 1000)
            with pytest.raises(QuotaSpent):
                await bring(office, alice, b"b" * 1000)
            assert (await office.attachments.mine(alice))[1] == 2000
            assert (await bring(office, bob, b"b" * 1000)).size == 1000
            await post(office, alice, "bob", first)
            await bring(office, bob, b"c" * 1000)
            with pytest.raises(QuotaSpent):  # what it sends on counts as its own
                await post(office, bob, "alice", first)

    async def test_nobody_has_uploads_under_way_without_end(self, office: PostOffice) -> None:
        (alice,) = await people(office, "alice")
        for _ in range(20):
            await office.attachments.begin(alice, Attachment(""), 1)
        with pytest.raises(TooManyUploads):
            await office.attachments.begin(alice, Attachment(""), 1)


class TestGone:
    async def test_bytes_are_gone_with_their_last_letter_and_not_before(self, engine: Engine) -> None:
        async with office_with(engine, retention=WEEK) as office:
            alice, bob = await people(office, "alice", "bob")
            first, second = await post_new(office, alice), await post_new(office, alice)
            kept = await office.attachments.fetch(alice, digest(DATA))
            assert [one.message.id for one in await office.pop(bob, 1)] == [first]
            await swept(office, engine, WEEK + DAY)
            assert await fetched(office, bob, digest(DATA)) == DATA
            assert [one.message.id for one in await office.pop(bob, 1)] == [second]
            await swept(office, engine, WEEK + DAY)
            await swept(office, engine, DAY)
            assert await refused(office, alice, kept.digest)
            assert not await bytes_left(engine, kept)

    async def test_what_no_letter_carries_is_gone_after_a_day(self, engine: Engine) -> None:
        async with office_with(engine) as office:
            alice, bob = await people(office, "alice", "bob")
            kept = await office.attachments.fetch(alice, (await bring(office, alice)).digest)
            upload = await office.attachments.begin(bob, Attachment(""), 10)
            await office.attachments.go_on(bob, upload.id, 0, chunks(b"12345"))
            await swept(office, engine, DAY + DAY)
            assert await refused(office, alice, kept.digest)
            assert not await bytes_left(engine, kept)
            with pytest.raises(NoSuchUpload):
                await office.attachments.under_way(bob, upload.id)
            assert [(await office.attachments.mine(caller))[1] for caller in (alice, bob)] == [0, 0]

    async def test_within_the_day_nothing_goes(self, office: PostOffice, engine: Engine) -> None:
        (alice,) = await people(office, "alice")
        brought = await bring(office, alice)
        upload = await office.attachments.begin(alice, Attachment(""), 10)
        await swept(office, engine, DAY / 2)
        assert await fetched(office, alice, brought.digest) == DATA
        assert (await office.attachments.under_way(alice, upload.id)).offset == 0

    async def test_a_letter_that_is_sent_while_its_bytes_are_swept_has_them_or_is_refused(self, engine: Engine) -> None:
        async with office_with(engine) as office:
            alice, bob = await people(office, "alice", "bob")
            for turn in range(20):
                data = b"%d" % turn
                brought = await bring(office, alice, data)
                await engine.advance(DAY + DAY)
                outcome, *_ = await asyncio.gather(
                    post(office, alice, "bob", brought), office.store.sweeps.drop_attachments(), return_exceptions=True
                )
                if isinstance(outcome, MailError):
                    assert isinstance(outcome, NoSuchAttachment)
                else:
                    await swept(office, engine, DAY + DAY)
                    assert await fetched(office, bob, brought.digest) == data


async def post_new(office: PostOffice, sender: Caller) -> str:
    return await post(office, sender, "bob", await bring(office, sender))


async def swept(office: PostOffice, engine: Engine, later: timedelta) -> None:
    """What the upkeep does by then."""
    await engine.advance(later)
    while await office.store.sweeps.purge(WEEK):
        pass
    while await office.store.sweeps.drop_attachments():
        pass


async def bytes_left(engine: Engine, kept: Kept) -> bool:
    """Whether there is anything left of them, in the folder or in the database."""
    if isinstance(engine, SQLiteEngine):
        return (engine.path.parent / "attachments" / kept.upload).exists()
    assert isinstance(engine, PostgresEngine)
    connection = await asyncpg.connect(engine.url)
    try:
        return bool(await connection.fetchval("SELECT count(*) FROM postoffice.attachment_bytes WHERE upload = $1", kept.upload))
    finally:
        await connection.close()

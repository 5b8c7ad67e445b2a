"""Attachments over REST: uploaded as a stream or with interruptions, and fetched whole, in part, or not again."""

import base64
import hashlib
from collections.abc import AsyncIterator

import httpx
import pytest

from tests.doors.callers import Callers, done, refused
from tests.doors.served import Served, serving
from tests.engines import Engine

DATA = bytes(range(256)) * 10_000
TAG = f'"sha256:{hashlib.sha256(DATA).hexdigest()}"'
DIGEST = TAG.strip('"')


async def chunked(data: bytes) -> AsyncIterator[bytes]:
    for begin in range(0, len(data), 100_000):
        yield data[begin : begin + 100_000]


async def carried(sender: httpx.AsyncClient, to: str, *attachments: dict[str, object]) -> str:
    body = {"to": to, "subject": "s", "content": "see there", "attachments": attachments}
    return str(done(await sender.post("/messages/send", json=body), 201)["message_id"])


async def test_what_is_uploaded_goes_with_a_letter_and_is_fetched_by_its_recipient(callers: Callers) -> None:
    alice, bob, eve = await callers.named("alice", "bob", "eve")
    said = {"name": "über uns.pdf", "type": "application/pdf", "digest": DIGEST[7:]}
    brought = done(await alice.post("/attachments", params=said, content=chunked(DATA)), 201)
    assert brought == {"digest": DIGEST, "name": "über uns.pdf", "type": "application/pdf", "size": len(DATA)}
    await carried(alice, "bob", brought)
    (letter,) = done(await bob.post("/messages/receive", json={}))["messages"]
    assert letter["attachments"] == [brought]
    answer = await bob.get(f"/attachments/{DIGEST}")
    assert (answer.status_code, answer.content) == (200, DATA)
    headers = answer.headers
    assert headers["content-type"] == "application/octet-stream"
    assert headers["content-disposition"] == "attachment; filename*=UTF-8''%C3%BCber%20uns.pdf"
    assert headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in headers["content-security-policy"]
    assert headers["etag"] == TAG
    assert headers["repr-digest"] == f"sha-256=:{base64.b64encode(hashlib.sha256(DATA).digest()).decode()}:"
    head = await bob.head(f"/attachments/{DIGEST}")
    assert (head.status_code, head.headers["content-length"], head.content) == (200, str(len(DATA)), b"")
    nowhere = f"sha256:{'0' * 64}"
    told = [refused(await eve.get(f"/attachments/{one}"), 404, "no_such_attachment").replace(one, "it") for one in (DIGEST, nowhere)]
    assert told[0] == told[1]
    refused(await eve.post("/messages/send", json={"to": "bob", "subject": "", "content": "", "attachments": [brought]}), 404)


async def test_parts_are_fetched_by_ranges_and_nothing_twice(callers: Callers) -> None:
    (alice,) = await callers.named("alice")
    done(await alice.post("/attachments", content=DATA), 201)
    for asked, begin, end in (
        ("bytes=0-9", 0, 10),
        ("bytes=2097140-2097160", 2097140, 2097161),  # over the end of a part
        ("bytes=2559990-", 2559990, len(DATA)),
        ("bytes=-5", len(DATA) - 5, len(DATA)),
        ("bytes=2559999-9999999999", len(DATA) - 1, len(DATA)),
    ):
        answer = await alice.get(f"/attachments/{DIGEST}", headers={"Range": asked})
        assert (answer.status_code, answer.content) == (206, DATA[begin:end])
        assert answer.headers["content-range"] == f"bytes {begin}-{end - 1}/{len(DATA)}"
    for asked in ("bytes=5-2", "bytes=0-1,5-6", "lines=1-2", "bytes=-"):  # which is not understood, and may be passed over
        assert (await alice.get(f"/attachments/{DIGEST}", headers={"Range": asked})).status_code == 200
    beyond = await alice.get(f"/attachments/{DIGEST}", headers={"Range": f"bytes={len(DATA)}-"})
    refused(beyond, 416, "bad_range")
    assert beyond.headers["content-range"] == f"bytes */{len(DATA)}"
    for held, status in ((TAG, 304), (f'"x", W/{TAG}', 304), ("*", 304), ('"x"', 200)):
        assert (await alice.get(f"/attachments/{DIGEST}", headers={"If-None-Match": held})).status_code == status
    for held, status in ((TAG, 206), ('"x"', 200)):
        headers = {"If-Range": held, "Range": "bytes=0-9"}
        assert (await alice.get(f"/attachments/{DIGEST}", headers=headers)).status_code == status


async def test_an_upload_goes_on_where_it_stood(callers: Callers) -> None:
    alice, bob = await callers.named("alice", "bob")
    begun = done(await alice.post("/attachments/uploads", json={"size": len(DATA), "name": "x.bin", "digest": DIGEST}), 201)
    path = f"/attachments/uploads/{begun['id']}"
    first = done(await alice.patch(path, content=DATA[:1_000_000], headers={"Upload-Offset": "0"}))
    assert first["upload"]["offset"] == 1_000_000
    head = await alice.head(path)
    assert (head.headers["upload-offset"], head.headers["upload-length"]) == ("1000000", str(len(DATA)))
    refused(await alice.patch(path, content=b"x", headers={"Upload-Offset": "5"}), 409, "wrong_offset")
    refused(await alice.patch(path, content=b"x"), 422, "invalid")
    refused(await bob.patch(path, content=b"x", headers={"Upload-Offset": "1000000"}), 404, "no_such_upload")
    last = done(await alice.patch(path, content=chunked(DATA[1_000_000:]), headers={"Upload-Offset": "1000000"}))
    assert last["attachment"] == {"digest": DIGEST, "name": "x.bin", "type": "application/octet-stream", "size": len(DATA)}
    refused(await alice.get(path), 404, "no_such_upload")
    own = done(await alice.get("/attachments"))
    assert (own["attachments"], own["kept"]) == ([last["attachment"]], len(DATA))
    other = done(await alice.post("/attachments/uploads", json={"size": 5}), 201)
    assert done(await alice.delete(f"/attachments/uploads/{other['id']}")) == {}
    refused(await alice.delete(f"/attachments/uploads/{other['id']}"), 404, "no_such_upload")


async def test_nothing_is_begun_again_that_was_lost_with_its_connection(callers: Callers, served: Served) -> None:
    (alice,) = await callers.named("alice")
    begun = done(await alice.post("/attachments/uploads", json={"size": len(DATA)}), 201)
    path = f"/attachments/uploads/{begun['id']}"

    async def broken() -> AsyncIterator[bytes]:
        yield DATA[:300_000]
        raise ConnectionResetError

    async with served.client(name="alice") as other:
        with pytest.raises(ConnectionResetError):
            await other.patch(path, content=broken(), headers={"Upload-Offset": "0"})
    offset = 0
    while not offset:
        offset = done(await alice.get(path))["offset"]
    assert offset <= 300_000
    last = done(await alice.patch(path, content=DATA[offset:], headers={"Upload-Offset": str(offset)}))
    assert last["attachment"]["digest"] == DIGEST


async def test_what_is_wrong_is_said_by_its_code(engine: Engine) -> None:
    async with serving(engine, limits={"attachment_bytes": 100_000, "attachment_quota": 150_000}) as small, Callers(small) as callers:
        (alice,) = await callers.named("alice")
        refused(await alice.post("/attachments", content=b"x" * 100_001), 413, "too_large")
        refused(await alice.post("/attachments", content=chunked(DATA)), 413, "too_large")
        refused(await alice.post("/attachments/uploads", json={"size": 100_001}), 413, "too_large")
        done(await alice.post("/attachments", content=b"x" * 100_000), 201)
        refused(await alice.post("/attachments", content=b"y" * 100_000), 507, "quota_spent")
        refused(await alice.post("/attachments", content=chunked(b"y" * 100_000)), 507, "quota_spent")
        wrong = base64.b64encode(b"0" * 32).decode()
        refused(await alice.post("/attachments", params={"digest": DIGEST}, content=b"z"), 422, "digest_mismatch")
        headers = {"Content-Digest": f"sha-256=:{wrong}:"}
        refused(await alice.post("/attachments", headers=headers, content=b"z"), 422, "digest_mismatch")
        refused(await alice.post("/attachments", params={"digest": "md5:0"}, content=b"z"), 422, "bad_digest")
        refused(await alice.post("/attachments", params={"name": "../x"}, content=b"z"), 422, "invalid")
        refused(await alice.post("/attachments", params={"type": "text/html; charset=x"}, content=b"z"), 422, "invalid")
        assert done(await alice.get("/attachments"))["kept"] == 100_000


async def test_nobody_without_a_name_brings_or_fetches_anything(guarded: Served) -> None:
    async with guarded.client() as nobody:
        refused(await nobody.post("/attachments", content=DATA), 401)
        refused(await nobody.get(f"/attachments/{DIGEST}"), 401)
        refused(await nobody.get("/attachments"), 401)


async def test_the_result_of_a_task_carries_files(callers: Callers) -> None:
    alice, bob = await callers.named("alice", "bob")
    task = done(await alice.post("/messages/send", json={"to": "bob", "type": "task", "content": "do it"}), 201)["message_id"]
    brought = done(await bob.post("/attachments", params={"name": "out.txt"}, content=b"done"), 201)
    done(await bob.post(f"/tasks/{task}/update", json={"state": "completed", "attachments": [{"digest": brought["digest"]}]}))
    (update,) = done(await alice.post("/messages/receive", json={}))["messages"]
    assert update["attachments"] == [brought]
    assert (await alice.get(f"/attachments/{brought['digest']}")).content == b"done"

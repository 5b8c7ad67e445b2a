"""What the emulator's mirror tells, how it pages, and how it goes wrong."""

import base64
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from hiero_sdk_python import AccountId, AccountUpdateTransaction, PrivateKey, TopicCreateTransaction

from tests.ledger.emulator import Chunk, Emulator, Throttle, running_hash
from tests.ledger.emulator.topic import Topic
from tests.ledger.sdk import in_thread, message


@pytest.fixture
async def mirror(ledger: Emulator) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=ledger.mirror_url, timeout=30) as opened:
        yield opened


def filled(ledger: Emulator, count: int) -> Topic:
    topic = ledger.new_topic()
    for number in range(1, count + 1):
        ledger.plant(topic.id, f"message {number}")
    return topic


async def got(mirror: httpx.AsyncClient, path: str) -> Any:
    answer = await mirror.get(f"/api/v1/{path}" if not path.startswith("/") else path)
    assert answer.status_code == 200, answer.text
    return answer.json()


def numbers(page: Any) -> list[int]:
    return [kept["sequence_number"] for kept in page["messages"]]


# Pages


@pytest.mark.parametrize(("asked", "given"), [("", 25), ("?limit=7", 7), ("?limit=100", 100), ("?limit=500", 100)])
async def test_a_page_is_as_long_as_asked_usually_25_and_never_over_100(
    ledger: Emulator, mirror: httpx.AsyncClient, asked: str, given: int
) -> None:
    page = await got(mirror, f"topics/{filled(ledger, 120).id}/messages{asked}")
    assert numbers(page) == list(range(1, given + 1))


async def test_pages_lead_through_a_topic_and_end_when_one_is_not_full(ledger: Emulator, mirror: httpx.AsyncClient) -> None:
    page = await got(mirror, f"topics/{filled(ledger, 12).id}/messages?limit=5")
    seen = numbers(page)
    while page["links"]["next"]:
        page = await got(mirror, page["links"]["next"])
        seen += numbers(page)
    assert seen == list(range(1, 13))


async def test_a_page_that_is_exactly_full_names_a_next_one_though_it_is_empty(ledger: Emulator, mirror: httpx.AsyncClient) -> None:
    page = await got(mirror, f"topics/{filled(ledger, 5).id}/messages?limit=5")
    page = await got(mirror, page["links"]["next"])
    assert (page["messages"], page["links"]["next"]) == ([], None)


@pytest.mark.parametrize(
    ("asked", "given"),
    [("gt:3", [4, 5]), ("gte:3", [3, 4, 5]), ("lt:3", [1, 2]), ("lte:3", [1, 2, 3]), ("eq:3", [3]), ("3", [3]), ("gt:5", [])],
)
async def test_messages_are_chosen_by_their_number(ledger: Emulator, mirror: httpx.AsyncClient, asked: str, given: list[int]) -> None:
    topic = filled(ledger, 5)
    assert numbers(await got(mirror, f"topics/{topic.id}/messages?sequencenumber={asked}")) == given


async def test_messages_can_be_had_from_the_last_one_back(ledger: Emulator, mirror: httpx.AsyncClient) -> None:
    page = await got(mirror, f"topics/{filled(ledger, 5).id}/messages?order=desc&limit=2")
    assert numbers(page) == [5, 4]
    assert numbers(await got(mirror, page["links"]["next"])) == [3, 2]


@pytest.mark.parametrize("asked", ["sequencenumber=gt:0", "sequencenumber=x", "limit=0", "limit=-1", "order=up", "offset=5"])
async def test_what_the_real_mirror_refuses_is_refused(ledger: Emulator, mirror: httpx.AsyncClient, asked: str) -> None:
    """Above all `gt:0`: a cursor that has seen nothing asks for `gte:1`."""
    answer = await mirror.get(f"/api/v1/topics/{filled(ledger, 1).id}/messages?{asked}")
    assert answer.status_code == 400
    assert asked.partition("=")[0] in answer.json()["_status"]["messages"][0]["message"]


# What is told


async def test_a_message_is_told_with_payer_time_number_and_hash(ledger: Emulator, mirror: httpx.AsyncClient, client: Any) -> None:
    topic = ledger.new_topic()
    await in_thread(message(client, topic, "héllo").execute, client)
    (told,) = (await got(mirror, f"topics/{topic.id}/messages"))["messages"]
    (kept,) = topic.messages
    assert told == {
        "chunk_info": None,
        "consensus_timestamp": f"{kept.moment // 10**9}.{kept.moment % 10**9:09}",
        "message": base64.b64encode("héllo".encode()).decode(),
        "payer_account_id": ledger.operator_id,
        "running_hash": base64.b64encode(kept.running_hash).decode(),
        "running_hash_version": 3,
        "sequence_number": 1,
        "topic_id": topic.id,
    }
    assert await got(mirror, f"topics/{topic.id}/messages/1") == told


async def test_a_chunk_is_told_with_its_place_and_the_first_ones_transaction(
    ledger: Emulator, mirror: httpx.AsyncClient, client: Any
) -> None:
    topic = ledger.new_topic()
    sent = message(client, topic, "x" * 1500)
    first = sent.transaction_id
    await in_thread(sent.execute_all, client)
    told = [kept["chunk_info"] for kept in (await got(mirror, f"topics/{topic.id}/messages"))["messages"]]
    start = f"{first.valid_start.seconds}.{first.valid_start.nanos:09}"
    initial = {"account_id": ledger.operator_id, "nonce": 0, "scheduled": False, "transaction_valid_start": start}
    assert told == [{"initial_transaction_id": initial, "number": number, "total": 2} for number in (1, 2)]


async def test_a_topic_is_told_with_memo_and_keys(mirror: httpx.AsyncClient, client: Any) -> None:
    submit = PrivateKey.generate_ecdsa().public_key()
    made = await in_thread(TopicCreateTransaction(memo="hcs-10:0:3600:1", submit_key=submit).execute, client)
    told = await got(mirror, f"topics/{made.topic_id}")
    key = {"_type": "ECDSA_SECP256K1", "key": submit.to_string_raw()}
    assert (told["memo"], told["submit_key"], told["admin_key"]) == ("hcs-10:0:3600:1", key, None)


async def test_an_account_is_told_with_memo_and_key(ledger: Emulator, mirror: httpx.AsyncClient, client: Any) -> None:
    operator = AccountId.from_string(ledger.operator_id)
    await in_thread(AccountUpdateTransaction().set_account_id(operator).set_account_memo("hcs-11:x").execute, client)
    told = await got(mirror, f"accounts/{ledger.operator_id}")
    assert (told["memo"], told["key"]["_type"]) == ("hcs-11:x", "ED25519")
    assert told["key"]["key"] == client.operator_public_key.to_string_raw()


async def test_a_transaction_is_told_with_its_result_also_when_it_failed(ledger: Emulator, mirror: httpx.AsyncClient, client: Any) -> None:
    for topic, result in ((ledger.new_topic().id, "SUCCESS"), ("0.0.999999", "INVALID_TOPIC_ID")):
        sent = message(client, topic, "x")
        start = sent.transaction_id.valid_start
        name = f"{ledger.operator_id}-{start.seconds}-{start.nanos}"
        assert (await mirror.get(f"/api/v1/transactions/{name}")).status_code == 404
        await in_thread(sent.execute, client)
        (told,) = (await got(mirror, f"transactions/{name}"))["transactions"]
        assert (told["name"], told["result"]) == ("CONSENSUSSUBMITMESSAGE", result)


@pytest.mark.parametrize(("switch", "status"), [(404, 404), (200, 200)])
async def test_a_topic_nobody_made_is_unknown_or_empty(ledger: Emulator, mirror: httpx.AsyncClient, switch: int, status: int) -> None:
    ledger.unknown_topic = switch
    answer = await mirror.get("/api/v1/topics/0.0.999999/messages")
    assert answer.status_code == status
    assert (await mirror.get("/api/v1/topics/0.0.999999")).status_code == 404
    assert (await mirror.get("/api/v1/accounts/0.0.999999")).status_code == 404


async def test_a_topic_without_messages_is_empty_and_not_unknown(ledger: Emulator, mirror: httpx.AsyncClient) -> None:
    page = await got(mirror, f"topics/{ledger.new_topic().id}/messages")
    assert page == {"links": {"next": None}, "messages": []}


# Going wrong


async def test_the_mirror_is_behind_for_as_long_as_it_is_told(ledger: Emulator, mirror: httpx.AsyncClient) -> None:
    topic = filled(ledger, 1)
    ledger.mirror_delay = 3600
    assert (await mirror.get(f"/api/v1/topics/{topic.id}/messages")).status_code == 404
    ledger.mirror_delay = 0
    assert numbers(await got(mirror, f"topics/{topic.id}/messages")) == [1]


async def test_a_frozen_mirror_knows_what_it_knew(ledger: Emulator, mirror: httpx.AsyncClient) -> None:
    topic = filled(ledger, 1)
    ledger.freeze_mirror()
    ledger.plant(topic.id, "unseen")
    assert numbers(await got(mirror, f"topics/{topic.id}/messages")) == [1]
    ledger.thaw_mirror()
    assert numbers(await got(mirror, f"topics/{topic.id}/messages")) == [1, 2]


async def test_more_than_the_rate_is_429_and_every_request_is_counted(ledger: Emulator, mirror: httpx.AsyncClient) -> None:
    path = f"/api/v1/topics/{filled(ledger, 1).id}/messages"
    ledger.mirror_throttle = Throttle(3, seconds=3600)
    assert [(await mirror.get(path)).status_code for _ in range(5)] == [200, 200, 200, 429, 429]
    assert [request.answer for request in ledger.requests.at("mirror", path)] == ["200", "200", "200", "429", "429"]
    assert ledger.requests.busiest("mirror", seconds=3600) == 5


@pytest.mark.parametrize("status", [429, 503])
async def test_the_mirror_refuses_for_a_while(ledger: Emulator, mirror: httpx.AsyncClient, status: int) -> None:
    path = f"/api/v1/topics/{filled(ledger, 1).id}/messages"
    ledger.faults.mirror_answers(status, calls=2)
    assert [(await mirror.get(path)).status_code for _ in range(3)] == [status, status, 200]


async def test_a_page_is_cut_off_in_the_middle_and_whole_the_next_time(ledger: Emulator, mirror: httpx.AsyncClient) -> None:
    topic = filled(ledger, 30)
    ledger.faults.cut_pages()
    async with (
        httpx.AsyncClient(base_url=ledger.mirror_url, timeout=30) as other,
        other.stream("GET", f"/api/v1/topics/{topic.id}/messages") as answer,
    ):
        assert answer.status_code == 200
        with pytest.raises(httpx.TransportError):
            await answer.aread()
    assert len(numbers(await got(mirror, f"topics/{topic.id}/messages"))) == 25


async def test_a_mirror_that_is_down_refuses_connections_and_comes_back_on_its_port(ledger: Emulator) -> None:
    path = f"{ledger.mirror_url}/api/v1/topics/{filled(ledger, 1).id}/messages"
    await ledger.mirror_down()
    async with httpx.AsyncClient(timeout=30) as web:
        with pytest.raises(httpx.ConnectError):
            await web.get(path)
        await ledger.mirror_up()
        assert (await web.get(path)).status_code == 200


async def test_a_page_comes_twice(ledger: Emulator, mirror: httpx.AsyncClient) -> None:
    topic = filled(ledger, 10)
    path = f"topics/{topic.id}/messages?limit=5"
    await got(mirror, path)
    ledger.faults.repeat_pages()
    assert numbers(await got(mirror, f"{path}&sequencenumber=gt:5")) == [1, 2, 3, 4, 5]
    assert numbers(await got(mirror, f"{path}&sequencenumber=gt:5")) == [6, 7, 8, 9, 10]


# Planted


async def test_a_forged_message_names_one_account_and_was_paid_by_another(ledger: Emulator, mirror: httpx.AsyncClient) -> None:
    topic, thief = ledger.new_topic(), ledger.new_account()
    ledger.forge(topic.id, operator_id=f"0.0.7@{ledger.operator_id}", payer=thief.id)
    (told,) = (await got(mirror, f"topics/{topic.id}/messages"))["messages"]
    assert told["payer_account_id"] == thief.id
    assert f"@{ledger.operator_id}" in base64.b64decode(told["message"]).decode()


@pytest.mark.parametrize("body", [b"", b"\xff\xfe", b"{", b"[]", b"null", b"x" * 100_000])
async def test_anything_can_be_planted(ledger: Emulator, mirror: httpx.AsyncClient, body: bytes) -> None:
    topic = ledger.new_topic()
    ledger.plant(topic.id, body)
    (told,) = (await got(mirror, f"topics/{topic.id}/messages"))["messages"]
    assert base64.b64decode(told["message"]) == body


async def test_chunks_can_be_planted_out_of_order_twice_and_not_at_all(ledger: Emulator, mirror: httpx.AsyncClient) -> None:
    topic = ledger.new_topic()
    ledger.plant_chunks(topic.id, [b"a", b"b", b"c"], order=[2, 0, 0])
    told = (await got(mirror, f"topics/{topic.id}/messages"))["messages"]
    assert [(kept["chunk_info"]["number"], kept["chunk_info"]["total"]) for kept in told] == [(3, 3), (1, 3), (1, 3)]


async def test_chunks_of_two_messages_of_one_sender_can_be_planted_interleaved(ledger: Emulator) -> None:
    topic = ledger.new_topic()
    first, second = (Chunk(ledger.operator_id, start, 1, 2) for start in (1, 2))
    for chunk in (first, second):
        ledger.plant(topic.id, b"x", chunk=chunk)
    assert [kept.chunk for kept in topic.messages] == [first, second]


async def test_an_altered_message_no_longer_fits_its_hash(ledger: Emulator) -> None:
    topic = filled(ledger, 2)
    topic.alter(1, b"something else")
    (kept, _) = topic.messages
    facts: dict[str, Any] = {"payer": kept.payer, "topic": topic.id, "moment": kept.moment, "sequence": 1}
    assert running_hash.following(running_hash.EMPTY, **facts, body=b"message 1") == kept.running_hash
    assert running_hash.following(running_hash.EMPTY, **facts, body=kept.body) != kept.running_hash

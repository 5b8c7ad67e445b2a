"""What the unmodified Python SDK does against the emulator when all goes well, and what signed bytes are good for."""

import base64
import contextlib
from typing import Any

import pytest
from hiero_sdk_python import (
    AccountCreateTransaction,
    AccountId,
    AccountInfoQuery,
    AccountUpdateTransaction,
    Client,
    CryptoGetAccountBalanceQuery,
    Hbar,
    PrivateKey,
    TopicCreateTransaction,
    TopicId,
    TopicInfoQuery,
    TopicMessageSubmitTransaction,
    TopicUpdateTransaction,
    TransactionGetReceiptQuery,
    TransactionId,
)
from hiero_sdk_python.crypto.key_list import KeyList
from hiero_sdk_python.exceptions import PrecheckError
from hiero_sdk_python.hapi.sdk.transaction_list_pb2 import TransactionList

from tests.ledger.emulator import Emulator, Throttle, running_emulator, running_hash
from tests.ledger.emulator.fees import MESSAGE, TOPIC
from tests.ledger.emulator.transaction import Transaction as Parsed
from tests.ledger.sdk import chunk_by_chunk, connected, in_thread, message, restored, status

MEMO = "hcs-10:0:3600:0:0.0.1001"


# Accounts and topics


async def test_an_account_made_by_the_sdk_pays_for_its_own_topic(ledger: Emulator, client: Any) -> None:
    key = PrivateKey.generate_ed25519()
    made = await in_thread(AccountCreateTransaction().set_key_without_alias(key).set_initial_balance(Hbar(5)).execute, client)
    account = ledger.accounts[str(made.account_id)]
    account.private_key = key
    with connected(ledger, account) as own:
        topic = await in_thread(TopicCreateTransaction(memo=MEMO).execute, own)
    assert ledger.topic(str(topic.topic_id)).memo == MEMO
    assert account.balance == 5 * 100_000_000 - TOPIC


@pytest.mark.parametrize("ecdsa", [False, True], ids=["ed25519", "ecdsa"])
async def test_a_topic_says_its_memo_keys_and_sequence(ledger: Emulator, *, ecdsa: bool) -> None:
    submit = PrivateKey.generate("ecdsa" if ecdsa else "ed25519")
    with connected(ledger, ledger.new_account(ecdsa=ecdsa)) as own:
        made = await in_thread(TopicCreateTransaction(memo=MEMO, submit_key=submit.public_key()).execute, own)
        await in_thread(message(own, str(made.topic_id), "one", submit).execute, own)
        info = await in_thread(TopicInfoQuery(made.topic_id).execute, own)
    assert (info.memo, info.sequence_number, info.admin_key) == (MEMO, 1, None)
    assert info.submit_key.to_bytes_raw() == submit.public_key().to_bytes_raw()
    assert info.running_hash == ledger.topic(str(made.topic_id)).messages[0].running_hash


async def test_topics_are_made_five_at_a_time_and_more_are_told_to_wait() -> None:
    async with running_emulator(topics=Throttle(5, seconds=3600)) as ledger:
        with connected(ledger) as client:
            client.set_max_attempts(1)
            for _ in range(5):
                await in_thread(TopicCreateTransaction().execute, client)
            with pytest.raises(Exception, match="BUSY"):
                await in_thread(TopicCreateTransaction().execute, client)
    assert len(ledger.topics) == 5


async def test_a_topic_with_an_admin_key_can_be_changed_by_it_alone(ledger: Emulator, client: Any) -> None:
    admin = PrivateKey.generate()
    made = await in_thread(TopicCreateTransaction(memo="old", admin_key=admin.public_key()).freeze_with(client).sign(admin).execute, client)
    change = TopicUpdateTransaction(made.topic_id, memo="new")
    assert status(await in_thread(change.execute, client)) == "INVALID_SIGNATURE"
    change = TopicUpdateTransaction(made.topic_id, memo="new").freeze_with(client).sign(admin)
    assert status(await in_thread(change.execute, client)) == "SUCCESS"
    assert ledger.topic(str(made.topic_id)).memo == "new"


async def test_a_topic_without_an_admin_key_is_as_it_is(client: Any) -> None:
    made = await in_thread(TopicCreateTransaction(memo="for ever").execute, client)
    assert status(await in_thread(TopicUpdateTransaction(made.topic_id, memo="new").execute, client)) == "UNAUTHORIZED"


async def test_an_account_memo_is_set_with_the_accounts_own_key(ledger: Emulator, client: Any) -> None:
    account = ledger.new_account()
    memo = "hcs-11:hcs://1/0.0.7"

    def change() -> Any:
        return AccountUpdateTransaction().set_account_id(AccountId.from_string(account.id)).set_account_memo(memo).freeze_with(client)

    assert status(await in_thread(change().execute, client)) == "INVALID_SIGNATURE"
    assert status(await in_thread(change().sign(account.private_key).execute, client)) == "SUCCESS"
    info = await in_thread(AccountInfoQuery(AccountId.from_string(account.id)).execute, client)
    assert (info.account_memo, account.memo) == (memo, memo)


async def test_a_balance_is_told_for_nothing_and_a_topic_for_a_fee(ledger: Emulator, client: Any) -> None:
    topic, operator = ledger.new_topic(), AccountId.from_string(ledger.operator_id)
    before = await in_thread(CryptoGetAccountBalanceQuery(operator).execute, client)
    again = await in_thread(CryptoGetAccountBalanceQuery(operator).execute, client)
    assert before.hbars.to_tinybars() == again.hbars.to_tinybars() == ledger.operator.balance
    await in_thread(TopicInfoQuery(TopicId.from_string(topic.id)).execute, client)
    assert ledger.operator.balance < again.hbars.to_tinybars()


# Messages


async def test_a_message_is_on_its_topic_with_its_payer_and_has_a_receipt(ledger: Emulator, client: Any) -> None:
    topic = ledger.new_topic()
    before = ledger.operator.balance
    receipt = await in_thread(message(client, topic, "grüß dich").execute, client)
    (kept,) = topic.messages
    assert (status(receipt), receipt.topic_sequence_number, receipt.topic_running_hash) == ("SUCCESS", 1, kept.running_hash)
    assert (kept.body.decode(), kept.payer, kept.chunk) == ("grüß dich", ledger.operator_id, None)
    assert ledger.operator.balance == before - MESSAGE


async def test_a_record_tells_when_consensus_was(ledger: Emulator, client: Any) -> None:
    topic = ledger.new_topic()
    response = await in_thread(message(client, topic, "one").set_max_attempts(3).execute, client, wait_for_receipt=False)
    record = await in_thread(response.get_record, client)
    assert record.receipt.topic_sequence_number == 1
    moment = topic.messages[0].moment
    assert (record.consensus_timestamp.seconds, record.consensus_timestamp.nanos) == divmod(moment, 1_000_000_000)


async def test_a_long_message_comes_in_numbered_chunks_each_with_a_receipt(ledger: Emulator, client: Any) -> None:
    topic, text = ledger.new_topic(), "0123456789" * 250
    sent = message(client, topic, text)
    receipts = await in_thread(sent.execute_all, client)
    assert [status(receipt) for receipt in receipts] == ["SUCCESS"] * 3
    assert b"".join(topic.bodies).decode() == text
    chunks = [kept.chunk for kept in topic.messages]
    assert [(chunk.number, chunk.total) for chunk in chunks if chunk] == [(1, 3), (2, 3), (3, 3)]
    assert {(chunk.payer, chunk.valid_start) for chunk in chunks if chunk} == {(ledger.operator_id, chunks[0] and chunks[0].valid_start)}


async def test_either_side_of_a_connection_may_write_where_one_of_two_keys_is_enough(ledger: Emulator) -> None:
    one, other, stranger = ledger.new_account(), ledger.new_account(ecdsa=True), ledger.new_account()
    both = KeyList([one.private_key.public_key(), other.private_key.public_key()], threshold=1)
    topic = ledger.new_topic(submit_key=both.to_proto_key())
    seen = {}
    for account in (one, other, stranger):
        with connected(ledger, account) as own:
            seen[account.id] = status(await in_thread(message(own, topic, account.id).execute, own))
    assert list(seen.values()) == ["SUCCESS", "SUCCESS", "INVALID_SIGNATURE"]
    assert topic.bodies == [one.id.encode(), other.id.encode()]


def test_the_running_hash_is_the_real_networks() -> None:
    """Three messages of testnet topic 0.0.4603900, as its mirror tells them."""
    told = [
        (1683553059_977315003, b"Message 1", "vKnW8bYSjhYtHtMNOJWrkfyv77kKc4EREDycKE2L37aU0SYlx+g6HB9ah7CTFSxl"),
        (1683553060_092158003, b"Message 2", "JM8LpmRwUVc+wiwzRHBgcCv8uJkbfan8BV2QPC0hBMgXA9KIvy8TwOoXsukgmeC+"),
        (1683553060_328178003, b"Message 3", "OL6EUxAayPsRiuhwflX5heRgIGEWmHcJU7bS2qBPeJNoOiMQmaY0H6G/pXJ7wGQz"),
    ]
    last = running_hash.EMPTY
    for sequence, (moment, body, expected) in enumerate(told, 1):
        facts = {"payer": "0.0.2617920", "topic": "0.0.4603900", "moment": moment}
        last = running_hash.following(last, **facts, sequence=sequence, body=body)  # type: ignore[arg-type]
        assert base64.b64encode(last).decode() == expected


# Signed bytes


async def test_signed_bytes_come_back_as_they_were_and_execution_adds_no_signature(ledger: Emulator, client: Any) -> None:
    topic, submit = ledger.new_topic(), PrivateKey.generate()
    signed = message(client, topic, "kept", submit).to_bytes()
    again = restored(signed)
    assert again.to_bytes() == signed
    await in_thread(again.execute, client)
    assert again.to_bytes() == signed
    assert topic.bodies == [b"kept"]


async def test_signed_bytes_submitted_twice_make_one_message_and_the_receipt_tells_which(ledger: Emulator, client: Any) -> None:
    topic = ledger.new_topic()
    sent = message(client, topic, "once")
    await in_thread(restored(sent.to_bytes()).execute, client)
    with pytest.raises(PrecheckError) as error:
        await in_thread(restored(sent.to_bytes()).execute, client)
    assert status(error.value) == "DUPLICATE_TRANSACTION"
    receipt = await in_thread(TransactionGetReceiptQuery(error.value.transaction_id).execute, client)
    assert (status(receipt), receipt.topic_sequence_number, topic.bodies) == ("SUCCESS", 1, [b"once"])


async def test_bytes_are_signed_without_a_network_and_submitted_without_a_key(ledger: Emulator) -> None:
    """Signing needs the payer, a moment and the nodes' accounts; submitting and asking for the receipt needs no operator."""
    topic, payer = ledger.new_topic(), ledger.new_account(ecdsa=True)
    apart = TopicMessageSubmitTransaction(TopicId.from_string(topic.id), "x" * 1500).set_transaction_memo("hcs-10:op:6:1")
    apart.set_transaction_id(TransactionId.generate(AccountId.from_string(payer.id))).set_node_account_ids([AccountId(0, 0, 3)])
    signed = apart.freeze().sign(payer.private_key).to_bytes()
    with Client.for_network({ledger.grpc_address: AccountId(0, 0, 3)}) as keyless:
        receipts = await in_thread(restored(signed).execute_all, keyless)
    assert [status(receipt) for receipt in receipts] == ["SUCCESS", "SUCCESS"]
    assert {kept.payer for kept in topic.messages} == {payer.id}


async def test_two_messages_under_one_transaction_id_are_one_message(ledger: Emulator, client: Any) -> None:
    """The second is a duplicate by its name alone, whatever it says: an outbox has to see to it that ids are never chosen twice."""
    topic, name = ledger.new_topic(), TransactionId.generate(client.operator_account_id)
    for text in ("first", "second"):
        sent = TopicMessageSubmitTransaction(TopicId.from_string(topic.id), text).set_transaction_id(name)
        with contextlib.suppress(PrecheckError):
            await in_thread(sent.execute, client)
    assert topic.bodies == [b"first"]
    assert [request.answer for request in ledger.requests.at("node", "submitMessage")] == ["OK", "DUPLICATE_TRANSACTION"]


async def test_bytes_for_a_node_that_the_client_does_not_know_cannot_be_submitted(ledger: Emulator, client: Any) -> None:
    signed = message(client, ledger.new_topic(), "x").to_bytes()
    with Client.for_network({ledger.grpc_address: AccountId(0, 0, 4)}) as moved, pytest.raises(RuntimeError, match="No node found"):
        await in_thread(restored(signed).execute, moved)


def test_the_chunks_of_a_message_take_the_nanoseconds_after_the_first_ones_start(client: Any) -> None:
    sent = message(client, "0.0.7", "x" * 2500)
    starts = [Parsed.parse(wire).starts for wire in TransactionList.FromString(sent.to_bytes()).transaction_list]
    assert starts == [starts[0], starts[0] + 1, starts[0] + 2]


async def test_a_chunked_message_can_be_kept_as_bytes_and_executed_whole(ledger: Emulator, client: Any) -> None:
    topic, text = ledger.new_topic(), "x" * 2500
    receipts = await in_thread(restored(message(client, topic, text).to_bytes()).execute_all, client)
    assert len(receipts) == 3
    assert b"".join(topic.bodies).decode() == text


async def test_a_chunked_message_that_broke_off_is_not_finished_by_executing_it_again(ledger: Emulator, client: Any) -> None:
    """`execute_all` begins with the first chunk, meets DUPLICATE_TRANSACTION there and never comes to the others."""
    topic = ledger.new_topic()
    signed = message(client, topic, "x" * 2500).to_bytes()
    await in_thread(restored(chunk_by_chunk(signed)[0]).execute, client)
    with pytest.raises(PrecheckError, match="DUPLICATE_TRANSACTION"):
        await in_thread(restored(signed).execute_all, client)
    assert len(topic.messages) == 1


async def test_a_chunked_message_that_broke_off_is_finished_chunk_by_chunk(ledger: Emulator, client: Any) -> None:
    topic, text = ledger.new_topic(), "0123456789" * 250
    apart = chunk_by_chunk(message(client, topic, text).to_bytes())
    await in_thread(restored(apart[0]).execute, client)
    for signed in apart[1:]:
        assert status(await in_thread(restored(signed).execute, client)) == "SUCCESS"
    assert b"".join(topic.bodies).decode() == text
    assert [kept.chunk.number for kept in topic.messages if kept.chunk] == [1, 2, 3]


async def test_bytes_made_for_two_nodes_hold_a_signed_transaction_for_each() -> None:
    async with running_emulator(nodes=2) as ledger:
        topic = ledger.new_topic()
        with connected(ledger) as client:
            signed = message(client, topic, "x" * 1500).to_bytes()
            await ledger.node_down(0)
            for chunk in chunk_by_chunk(signed):
                assert status(await in_thread(restored(chunk).execute, client)) == "SUCCESS"
        assert len(topic.messages) == 2

"""What the unmodified Python SDK makes of each failure: which exception, which status, and what can still be done afterwards."""

import asyncio
import time
from typing import Any

import pytest
from hiero_sdk_python import (
    AccountId,
    Client,
    PrivateKey,
    TopicId,
    TopicInfoQuery,
    TopicMessageSubmitTransaction,
    TransactionGetReceiptQuery,
    TransactionId,
)
from hiero_sdk_python.exceptions import MaxAttemptsError, PrecheckError, ReceiptStatusError
from hiero_sdk_python.hapi.services.timestamp_pb2 import Timestamp

from tests.ledger.emulator import Emulator, running_emulator
from tests.ledger.emulator.fees import MESSAGE
from tests.ledger.sdk import connected, in_thread, message, restored, status


def submits(ledger: Emulator) -> list[str]:
    """What the node answered to messages."""
    return [request.answer for request in ledger.requests.at("node", "submitMessage")]


# Refused at once: PrecheckError, whose status says why. Nothing was taken and no fee is paid.


async def refused(ledger: Emulator, client: Any, transaction: Any) -> str:
    before = ledger.operator.balance
    with pytest.raises(PrecheckError) as error:
        await in_thread(transaction.execute, client)
    assert ledger.operator.balance == before
    return status(error.value)


async def test_a_wrong_signature_is_refused_at_once(ledger: Emulator, client: Any) -> None:
    client.set_operator(AccountId.from_string(ledger.operator_id), PrivateKey.generate())
    assert await refused(ledger, client, message(client, ledger.new_topic(), "x")) == "INVALID_SIGNATURE"


async def test_a_signature_over_another_body_is_refused_at_once(ledger: Emulator, client: Any) -> None:
    topic = ledger.new_topic()
    one, other = message(client, topic, "one"), message(client, topic, "another")
    (signatures,) = one._signature_map.values()
    other._signature_map = dict.fromkeys(other._signature_map, signatures)
    assert await refused(ledger, client, restored(other.to_bytes())) == "INVALID_SIGNATURE"


async def test_an_account_that_cannot_pay_is_refused_at_once(ledger: Emulator) -> None:
    with connected(ledger, ledger.new_account(balance=MESSAGE - 1)) as poor:
        assert await refused(ledger, poor, message(poor, ledger.new_topic(), "x")) == "INSUFFICIENT_PAYER_BALANCE"


async def test_a_fee_limit_below_the_price_is_refused_at_once(ledger: Emulator, client: Any) -> None:
    cheap = TopicMessageSubmitTransaction(TopicId.from_string(ledger.new_topic().id), "x")
    cheap.transaction_fee = MESSAGE - 1
    assert await refused(ledger, client, cheap) == "INSUFFICIENT_TX_FEE"


async def test_an_account_nobody_knows_is_refused_at_once(ledger: Emulator, client: Any) -> None:
    client.set_operator(AccountId(0, 0, 999_999), PrivateKey.generate())
    assert await refused(ledger, client, message(client, ledger.new_topic(), "x")) == "PAYER_ACCOUNT_NOT_FOUND"


@pytest.mark.parametrize(("start", "seconds", "why"), [(-300, 120, "TRANSACTION_EXPIRED"), (300, 120, "INVALID_TRANSACTION_START")])
async def test_a_transaction_is_taken_only_within_its_window(ledger: Emulator, client: Any, start: int, seconds: int, why: str) -> None:
    begins = Timestamp(seconds=int(time.time()) + start)
    late = TopicMessageSubmitTransaction(TopicId.from_string(ledger.new_topic().id), "x").set_transaction_valid_duration(seconds)
    late.set_transaction_id(TransactionId(client.operator_account_id, begins))
    assert await refused(ledger, client, late) == why


async def test_a_window_longer_than_three_minutes_is_refused_at_once(ledger: Emulator, client: Any) -> None:
    wide = TopicMessageSubmitTransaction(TopicId.from_string(ledger.new_topic().id), "x").set_transaction_valid_duration(181)
    assert await refused(ledger, client, wide) == "INVALID_TRANSACTION_DURATION"


async def test_bytes_kept_too_long_expire_and_are_not_renewed_by_the_sdk(ledger: Emulator, client: Any) -> None:
    topic = ledger.new_topic()
    signed = message(client, topic, "late").to_bytes()
    with ledger.clock.ahead(180):
        assert await refused(ledger, client, restored(signed)) == "TRANSACTION_EXPIRED"
    assert topic.messages == []


async def test_bytes_that_were_taken_long_ago_say_expired_and_not_duplicate(ledger: Emulator, client: Any) -> None:
    """And their receipt is gone: only the mirror knows by then whether they were taken."""
    topic = ledger.new_topic()
    sent = message(client, topic, "taken")
    await in_thread(sent.execute, client)
    with ledger.clock.ahead(200):
        assert await refused(ledger, client, restored(sent.to_bytes())) == "TRANSACTION_EXPIRED"
        with pytest.raises(MaxAttemptsError) as error:
            await in_thread(TransactionGetReceiptQuery(sent.transaction_id).set_max_attempts(2).execute, client)
    assert status(error.value.last_error) == "RECEIPT_NOT_FOUND"
    assert topic.bodies == [b"taken"]


async def test_a_transaction_memo_over_a_hundred_bytes_is_refused_at_once(ledger: Emulator, client: Any) -> None:
    wordy = TopicMessageSubmitTransaction(TopicId.from_string(ledger.new_topic().id), "x").set_transaction_memo("é" * 51)
    assert await refused(ledger, client, wordy) == "MEMO_TOO_LONG"


# Failed at its turn: no exception unless it is asked for. The fee is paid.


async def failed(ledger: Emulator, client: Any, transaction: Any) -> str:
    before = ledger.operator.balance
    receipt = await in_thread(transaction.execute, client)
    assert ledger.operator.balance == before - MESSAGE
    return status(receipt)


async def test_a_topic_nobody_made_is_found_out_in_the_receipt(ledger: Emulator, client: Any) -> None:
    assert await failed(ledger, client, message(client, "0.0.999999", "x")) == "INVALID_TOPIC_ID"


async def test_a_missing_submit_key_is_found_out_in_the_receipt(ledger: Emulator, client: Any) -> None:
    submit = PrivateKey.generate_ecdsa()
    topic = ledger.new_topic(submit_key=submit.public_key().to_proto_key())
    assert await failed(ledger, client, message(client, topic, "x")) == "INVALID_SIGNATURE"
    assert topic.messages == []
    assert await failed(ledger, client, message(client, topic, "x", submit)) == "SUCCESS"


async def test_a_failed_receipt_raises_only_where_that_is_asked_for(client: Any) -> None:
    with pytest.raises(ReceiptStatusError) as error:
        await in_thread(message(client, "0.0.999999", "x").execute, client, validate_status=True)
    assert (status(error.value), status(error.value.transaction_receipt)) == ("INVALID_TOPIC_ID", "INVALID_TOPIC_ID")


async def test_a_message_over_1024_bytes_in_one_piece_is_found_out_in_the_receipt(ledger: Emulator, client: Any) -> None:
    topic = ledger.new_topic()
    whole = TopicMessageSubmitTransaction(TopicId.from_string(topic.id), "x" * 1025, chunk_size=2000)
    assert await failed(ledger, client, whole) == "MESSAGE_SIZE_TOO_LARGE"


@pytest.mark.parametrize(
    ("number", "first", "why"),
    [
        (0, "itself", "INVALID_CHUNK_NUMBER"),
        (4, "itself", "INVALID_CHUNK_NUMBER"),
        (1, "another", "INVALID_CHUNK_TRANSACTION_ID"),
        (2, "somebody else's", "INVALID_CHUNK_TRANSACTION_ID"),
        (2, "another", "SUCCESS"),
    ],
)
async def test_a_chunk_of_three_names_its_place_and_the_first_of_its_sender(
    ledger: Emulator, client: Any, number: int, first: str, why: str
) -> None:
    odd = TopicMessageSubmitTransaction(TopicId.from_string(ledger.new_topic().id), "x" * 10)
    odd.set_transaction_id(TransactionId.generate(client.operator_account_id))
    body = odd.build_transaction_body()
    info = body.consensusSubmitMessage.chunkInfo
    info.number, info.total = number, 3
    info.initialTransactionID.CopyFrom(odd.transaction_id._to_proto())
    if first == "another":
        info.initialTransactionID.transactionValidStart.seconds -= 1
    if first == "somebody else's":
        info.initialTransactionID.accountID.accountNum += 1
    odd.build_transaction_body = lambda: body
    assert await failed(ledger, client, odd) == why


# Refused before anything is sent: plain ValueErrors


def test_a_message_of_more_than_twenty_chunks_or_of_none_is_a_value_error(client: Any) -> None:
    with pytest.raises(ValueError, match="max_chunks=20"):
        message(client, "0.0.7", "x" * (20 * 1024 + 1))
    with pytest.raises(ValueError, match="message"):
        message(client, "0.0.7", "")


def test_the_sdk_shows_private_keys_in_its_errors_and_its_repr() -> None:
    """So neither may ever reach a log."""
    with pytest.raises(ValueError, match="nearly hexadecimal"):
        PrivateKey.from_string("nearly hexadecimal")
    key = PrivateKey.generate()
    assert key.to_string_raw() in repr(key)


def test_thirty_two_bare_bytes_are_read_as_ed25519_with_a_warning() -> None:
    ecdsa = PrivateKey.generate_ecdsa()
    with pytest.warns(UserWarning, match="Ed25519"):
        assert PrivateKey.from_string(ecdsa.to_string_raw()).is_ed25519()
    assert PrivateKey.from_string(ecdsa.to_string_der()).is_ecdsa()


# Tried again by the SDK itself


async def test_busy_is_tried_again_until_it_is_not(ledger: Emulator, client: Any) -> None:
    topic = ledger.new_topic()
    ledger.faults.busy(3)
    assert status(await in_thread(message(client, topic, "x").execute, client)) == "SUCCESS"
    assert submits(ledger) == ["BUSY", "BUSY", "BUSY", "OK"]
    assert len(topic.messages) == 1


async def test_busy_for_too_long_is_a_max_attempts_error_that_holds_the_last_refusal(ledger: Emulator, client: Any) -> None:
    ledger.faults.busy(100)
    with pytest.raises(MaxAttemptsError) as error:
        await in_thread(message(client, ledger.new_topic(), "x").execute, client)
    assert isinstance(error.value.last_error, PrecheckError)
    assert status(error.value.last_error) == "BUSY"
    assert len(submits(ledger)) == 10


async def test_a_time_out_ends_the_tries_and_looks_the_same(ledger: Emulator, client: Any) -> None:
    ledger.faults.busy(1000)
    client.set_max_attempts(1000)
    with pytest.raises(MaxAttemptsError, match="BUSY"):
        await in_thread(message(client, ledger.new_topic(), "x").execute, client, timeout=1)
    assert len(submits(ledger)) < 1000


async def test_a_receipt_that_stays_unknown_is_a_max_attempts_error_and_may_still_come(ledger: Emulator, client: Any) -> None:
    topic = ledger.new_topic()
    ledger.consensus.hold()
    sent = message(client, topic, "patience")
    with pytest.raises(MaxAttemptsError) as error:
        await in_thread(sent.execute, client)
    assert isinstance(error.value.last_error, ReceiptStatusError)
    assert status(error.value.last_error) == "UNKNOWN"
    assert topic.messages == []
    ledger.consensus.release()
    assert status(await in_thread(TransactionGetReceiptQuery(sent.transaction_id).execute, client)) == "SUCCESS"


async def test_consensus_that_takes_a_moment_is_waited_for(ledger: Emulator, client: Any) -> None:
    ledger.consensus_delay = 0.01
    receipt = await in_thread(message(client, ledger.new_topic(), "x").execute, client)
    assert (status(receipt), receipt.topic_sequence_number) == ("SUCCESS", 1)


# The network is gone: RuntimeError, with no word of what it was


async def test_a_node_that_is_down_is_a_runtime_error(ledger: Emulator, client: Any) -> None:
    await ledger.node_down()
    with pytest.raises(RuntimeError, match="All nodes are unhealthy"):
        await in_thread(message(client, ledger.new_topic(), "x").execute, client)
    assert submits(ledger) == []


async def replaced(ledger: Emulator, signed: bytes) -> Any:
    """The same bytes by clients that know nothing of the failure, until one gets through.

    That may be the second: channels of one process to one address share a connection, which waits about a second after it was refused.
    """
    while True:
        with connected(ledger) as fresh:
            try:
                return await in_thread(restored(signed).execute, fresh)
            except RuntimeError:
                await asyncio.sleep(0.02)


async def test_a_client_that_lost_its_node_needs_to_be_replaced_when_the_node_is_back(ledger: Emulator, client: Any) -> None:
    """It will not try the node again for 16 seconds, then 32 and on to an hour."""
    topic = ledger.new_topic()
    sent = message(client, topic, "x")
    await ledger.node_down()
    with pytest.raises(RuntimeError):
        await in_thread(sent.execute, client)
    await ledger.node_up()
    with pytest.raises(RuntimeError):
        await in_thread(restored(sent.to_bytes()).execute, client)
    client.close()
    assert status(await replaced(ledger, sent.to_bytes())) == "SUCCESS"


async def test_an_answer_cut_off_after_the_message_was_taken_leaves_one_message(ledger: Emulator, client: Any) -> None:
    topic = ledger.new_topic()
    sent = message(client, topic, "once")
    ledger.faults.cut()
    with pytest.raises(RuntimeError, match="unhealthy"):
        await in_thread(sent.execute, client)
    client.close()
    with pytest.raises(PrecheckError, match="DUPLICATE_TRANSACTION"):
        await replaced(ledger, sent.to_bytes())
    assert (submits(ledger), topic.bodies) == (["cut", "DUPLICATE_TRANSACTION"], [b"once"])


async def test_a_message_cut_off_before_it_was_taken_is_taken_the_second_time(ledger: Emulator, client: Any) -> None:
    topic = ledger.new_topic()
    sent = message(client, topic, "once")
    ledger.faults.cut(accepted=False)
    with pytest.raises(RuntimeError, match="unhealthy"):
        await in_thread(sent.execute, client)
    client.close()
    assert status(await replaced(ledger, sent.to_bytes())) == "SUCCESS"
    assert topic.bodies == [b"once"]


async def test_a_node_that_never_answers_is_given_up_at_the_deadline_of_the_call(ledger: Emulator, client: Any) -> None:
    topic = ledger.new_topic()
    await in_thread(message(client, topic, "heard").execute, client)
    ledger.faults.silence()
    with pytest.raises(RuntimeError, match="unhealthy"):
        await in_thread(message(client, topic, "unheard").set_grpc_deadline(3).execute, client)
    assert topic.bodies == [b"heard", b"unheard"]


async def test_a_receipt_that_is_cut_off_is_a_max_attempts_error_though_the_message_is_there(ledger: Emulator, client: Any) -> None:
    topic = ledger.new_topic()
    ledger.faults.cut(method="getTransactionReceipts")
    with pytest.raises(MaxAttemptsError, match="UNAVAILABLE"):
        await in_thread(message(client, topic, "x").execute, client)
    assert len(topic.messages) == 1


async def test_a_second_node_is_asked_when_the_first_is_down() -> None:
    async with running_emulator(nodes=2) as ledger:
        topic = ledger.new_topic()
        await ledger.node_down(0)
        with connected(ledger) as client:
            for text in ("one", "two"):
                assert status(await in_thread(message(client, topic, text).execute, client)) == "SUCCESS"
        assert topic.bodies == [b"one", b"two"]


async def test_with_two_nodes_a_cut_off_answer_shows_as_a_duplicate() -> None:
    """The SDK hands the same transaction to the second node, and does not know that the first had taken it."""
    async with running_emulator(nodes=2) as ledger:
        topic = ledger.new_topic()
        ledger.faults.cut()
        with connected(ledger) as client, pytest.raises(PrecheckError, match="DUPLICATE_TRANSACTION"):
            await in_thread(message(client, topic, "once").execute, client)
        assert topic.bodies == [b"once"]


async def test_a_node_called_by_another_nodes_account_makes_the_client_forget_its_nodes(ledger: Emulator) -> None:
    """After INVALID_NODE_ACCOUNT it asks for the network's nodes, which for one of our own means a port nobody listens on."""
    with Client.for_network({ledger.grpc_address: AccountId(0, 0, 9)}) as client:
        client.set_operator(AccountId.from_string(ledger.operator_id), PrivateKey.from_string(ledger.operator_key)).set_min_backoff(0)
        with pytest.raises(RuntimeError, match=r"No node found for node_account_id: 0\.0\.9"):
            await in_thread(message(client, ledger.new_topic(), "x").execute, client)
        assert [str(node._address) for node in client.network.nodes] == ["localhost:35211"]


async def test_a_topic_nobody_made_has_no_info(client: Any) -> None:
    with pytest.raises(PrecheckError, match="INVALID_TOPIC_ID"):
        await in_thread(TopicInfoQuery(TopicId(0, 0, 999_999)).execute, client)


# Out of order


async def test_messages_reach_consensus_in_the_order_a_test_wants(ledger: Emulator, client: Any) -> None:
    topic = ledger.new_topic()
    ledger.consensus.reorder(2, 0, 1)
    sent = await in_thread(message(client, topic, "x" * 2500).execute_all, client, wait_for_receipt=False)
    assert [kept.chunk.number for kept in topic.messages if kept.chunk] == [3, 1, 2]
    receipts = [await in_thread(response.get_receipt, client) for response in sent]
    assert [receipt.topic_sequence_number for receipt in receipts] == [2, 3, 1]


async def test_the_chunks_of_two_senders_mix(ledger: Emulator, client: Any) -> None:
    topic, other = ledger.new_topic(), ledger.new_account()
    ledger.consensus.reorder(0, 2, 1, 3)
    await in_thread(message(client, topic, "a" * 1500).execute_all, client, wait_for_receipt=False)
    with connected(ledger, other) as second:
        await in_thread(message(second, topic, "b" * 1500).execute_all, second, wait_for_receipt=False)
    seen = [(kept.payer, kept.chunk.number) for kept in topic.messages if kept.chunk]
    assert seen == [(ledger.operator_id, 1), (other.id, 1), (ledger.operator_id, 2), (other.id, 2)]


async def test_many_threads_share_a_client(ledger: Emulator, client: Any) -> None:
    topic = ledger.new_topic()
    receipts = await asyncio.gather(*(in_thread(message(client, topic, str(number)).execute, client) for number in range(20)))
    assert sorted(receipt.topic_sequence_number for receipt in receipts) == list(range(1, 21))
    assert sorted(topic.bodies) == sorted(str(number).encode() for number in range(20))

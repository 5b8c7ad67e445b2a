"""What is put into the outbox to the ledger, in the act that accepts the message."""

from typing import Final

from postoffice.core.ledger import CONNECTION_MEMO, MESSAGE_MEMO, Account, is_ledger_id, write_envelope, write_log, write_note
from postoffice.core.message import LedgerWish, Message
from postoffice.store.desk import Desk, Needs

AWAITING: Final = "awaiting"
DIRECT: Final = "direct"


def ask_for_topics(needs: Needs) -> None:
    """Have everybody's topics on the desk."""
    needs.extra |= {"ledger_accounts": (), "ledger_connections": ()}


def put_message(desk: Desk, message: Message, sender: str, recipient: str, wish: LedgerWish) -> str:
    """Have a message put on its recipient's topic, if both sides have one; and how it goes now."""
    accounts = _accounts(desk)
    mine, theirs = accounts.get(sender), accounts.get(recipient)
    if mine is not None and mine.outbound_topic_id is not None and wish.log:
        put_post(desk, mine.outbound_topic_id, write_log(mine, message), payer=mine.account_id)
    if mine is None or sender == recipient:
        return DIRECT
    # Agents of other software are written to where both have agreed to meet, ours at home.
    topic = {(agent, peer): id for id, agent, peer in desk.extra["ledger_connections"]}.get((sender, recipient))
    if topic is None and (theirs is None or theirs.outside):
        return DIRECT
    put_post(
        desk,
        topic or theirs.inbound_topic_id,  # type: ignore[union-attr]  # looked at just above
        write_envelope(mine, message, private=wish.private and topic is None),
        payer=mine.account_id,
        memo=MESSAGE_MEMO if topic is None else CONNECTION_MEMO,
        message_id=message.id,
        mailbox=recipient,
    )
    return AWAITING


def put_note(desk: Desk, message: Message, sender: str) -> None:
    """Have a note put on its entity's topic, if the entity is one."""
    mine = _accounts(desk).get(sender)
    if mine is not None and message.ref_id is not None and is_ledger_id(message.ref_id):
        put_post(desk, message.ref_id, write_note(message), payer=mine.account_id, message_id=message.id)


def put_post(
    desk: Desk,
    topic_id: str,
    body: str,
    *,
    payer: str | None = None,
    memo: str = MESSAGE_MEMO,
    message_id: str | None = None,
    mailbox: str | None = None,
) -> str:
    """Have something put on a topic. Gives the post's id."""
    id = desk.clock.new_id()
    desk.write("add_post", (id, topic_id, memo, payer, body, message_id, mailbox, "waiting", 0, desk.now, desk.now), id)
    return id


def _accounts(desk: Desk) -> dict[str, Account]:
    return {
        row[0]: Account(agent=row[0], account_id=row[1], inbound_topic_id=row[2], outbound_topic_id=row[3])
        for row in desk.extra["ledger_accounts"]
    }

"""What is put into the outbox to the ledger, in the act that accepts the message."""

from postoffice.acts.desk import Desk
from postoffice.acts.needs import Needs
from postoffice.acts.rows import Box
from postoffice.core.draft import LedgerWish
from postoffice.core.envelope import write_envelope, write_log, write_note
from postoffice.core.errors import OutOfReach
from postoffice.core.ledger import AWAITING, CONNECTION_MEMO, DIRECT, LOG_MEMO, MESSAGE_MEMO, NOTE_MEMO, Account, is_ledger_id
from postoffice.core.message import Message


def ask_for_topics(needs: Needs) -> None:
    """Have everybody's topics on the desk."""
    needs.extra |= {"ledger_accounts": (), "ledger_connections": ()}


def check_reachable(desk: Desk, sender: Box, recipient: Box) -> None:
    """Refuse mail that nobody would read: agents of other software read their topics and nothing else."""
    accounts = known_accounts(desk)
    theirs = accounts.get(recipient.agent)
    if theirs is not None and theirs.foreign and (sender.agent not in accounts or _meeting(desk, sender.agent, recipient.agent) is None):
        raise OutOfReach(recipient=recipient.name, sender=sender.name)


def put_message(desk: Desk, message: Message, sender: str, recipient: str, wish: LedgerWish) -> str | None:
    """Have a message put on its recipient's topic, if both sides have one; and how it goes now."""
    accounts = known_accounts(desk)
    mine, theirs = accounts.get(sender), accounts.get(recipient)
    if wish.abroad and (theirs is None or not theirs.foreign):
        return None
    if mine is None or sender == recipient:
        return DIRECT
    # Agents of other software are written to where both have agreed to meet, ours at home.
    topic = _meeting(desk, sender, recipient)
    home = None if theirs is None or theirs.foreign else theirs.inbound_topic_id
    if topic is None and home is None:
        return DIRECT
    put_post(
        desk,
        topic or home or "",
        write_envelope(mine, message, private=wish.private and topic is None),
        payer=mine.account_id,
        memo=MESSAGE_MEMO if topic is None else CONNECTION_MEMO,
        message_id=message.id,
        mailbox=recipient,
    )
    return AWAITING


def put_log(desk: Desk, message: Message, sender: str) -> None:
    """Have the sender's public log tell that a message was sent."""
    mine = known_accounts(desk).get(sender)
    if mine is not None and mine.outbound_topic_id is not None:
        put_post(desk, mine.outbound_topic_id, write_log(mine, message), payer=mine.account_id, memo=LOG_MEMO)


def put_note(desk: Desk, message: Message, sender: str) -> str:
    """Have a note put on its entity's topic, if the entity is one; and how it goes now."""
    mine = known_accounts(desk).get(sender)
    if mine is None or message.ref_id is None or not is_ledger_id(message.ref_id):
        return DIRECT
    put_post(desk, message.ref_id, write_note(message), payer=mine.account_id, memo=NOTE_MEMO, message_id=message.id)
    return AWAITING


def put_post(
    desk: Desk,
    topic_id: str,
    body: str,
    *,
    payer: str | None = None,
    memo: str = MESSAGE_MEMO,
    message_id: str | None = None,
    mailbox: str | None = None,
    id: str | None = None,
) -> str:
    """Have something put on a topic. Gives the post's id; one that is there already stays as it is."""
    id = id or desk.clock.new_id()
    desk.write("add_post", (id, topic_id, memo, payer, body, message_id, mailbox, "waiting", 0, desk.now, desk.now), id)
    return id


def known_accounts(desk: Desk) -> dict[str, Account]:
    """By agent: who has topics."""
    return {
        row[0]: Account(agent=row[0], account_id=row[1], inbound_topic_id=row[2], outbound_topic_id=row[3])
        for row in desk.extra["ledger_accounts"]
    }


def _meeting(desk: Desk, agent: str, peer: str) -> str | None:
    """The topic where an agent of ours and one of other software meet."""
    return next((id for id, one, other in desk.extra["ledger_connections"] if (one, other) == (agent, peer)), None)

"""Acts of the ledger: who has topics, what became of a post, and what was seen there."""

from contextlib import suppress
from datetime import timedelta

from postoffice.acts.act import Act
from postoffice.acts.desk import Desk
from postoffice.acts.ledger.outbox import ask_for_topics, known_accounts, put_post
from postoffice.acts.mail.dead import Release
from postoffice.acts.mail.moves import let_through, notify, settle
from postoffice.acts.mail.send import Send
from postoffice.acts.needs import Needs
from postoffice.acts.rows import DeliveryRow
from postoffice.acts.rules.notices import not_on_ledger
from postoffice.core.clock import is_id, micros
from postoffice.core.delivery import UNREAD, State
from postoffice.core.envelope import note_author
from postoffice.core.errors import MailError, NoSuchMessage, OtherLedger, TopicTaken, TopicWatched, Unavailable
from postoffice.core.fingerprint import Body, matches
from postoffice.core.ledger import FORMER, Account, Post, Sighting
from postoffice.core.names import SYSTEM, folded
from postoffice.core.session import pair

_COPIES_KEPT = 2  # times what a topic tells is kept: as its record, and as mail


class KeepNetwork(Act[None]):
    """Remember which ledger this office's topics are on. The first one counts; another one is refused."""

    def __init__(self, network: str) -> None:
        self.network = network

    def ask(self, needs: Needs) -> None:
        needs.boxes.add(SYSTEM)
        needs.extra["cursor:network"] = ("network",)

    def run(self, desk: Desk) -> None:
        for (network,) in desk.extra["cursor:network"]:
            if network != self.network:
                raise OtherLedger(known=network, network=self.network)
        desk.extra["cursor:network"] = [(self.network,)]
        desk.write("put_cursor", ("network", self.network), "network")


class KeepAccount(Act[None]):
    """An agent has topics now, perhaps new ones. What was sent on its old ones is still looked for."""

    def __init__(self, account: Account, profile: str | None) -> None:
        self.account = account
        self.profile = profile
        self.name = f"watched_topic:{account.inbound_topic_id}"

    def ask(self, needs: Needs) -> None:
        needs.boxes.add(SYSTEM)
        needs.extra[self.name] = (self.account.inbound_topic_id,)
        ask_for_topics(needs)

    def run(self, desk: Desk) -> None:
        account = self.account
        for agent, other in known_accounts(desk).items():
            if agent != folded(account.agent) and other.inbound_topic_id == account.inbound_topic_id:
                raise TopicTaken(topic=account.inbound_topic_id, agent=agent)
        for kind, agent, _ in desk.extra[self.name]:
            if (kind, agent) != (FORMER, folded(account.agent)):
                raise TopicWatched(topic=account.inbound_topic_id, kind=kind)
        before = known_accounts(desk).get(folded(account.agent))
        if before is not None and not before.foreign and before.operator_id != account.operator_id:
            desk.write(
                "put_ledger_topic", (before.inbound_topic_id, FORMER, before.agent, before.account_id, desk.now), before.inbound_topic_id
            )
        row = (folded(account.agent), account.account_id, account.inbound_topic_id, account.outbound_topic_id, self.profile, desk.now)
        desk.extra["ledger_accounts"] = [*(one for one in desk.extra["ledger_accounts"] if one[0] != row[0]), row[:4]]
        desk.write("put_ledger_account", row, row[0])


class PutPost(Act[str]):
    """Something other than a message is to be put on a topic. Gives the post's id."""

    def __init__(self, topic_id: str, body: str, memo: str, payer: str | None, id: str | None = None) -> None:
        self.topic_id = topic_id
        self.body = body
        self.memo = memo
        self.payer = payer
        self.id = id

    def ask(self, needs: Needs) -> None:
        needs.boxes.add(SYSTEM)

    def run(self, desk: Desk) -> str:
        desk.room.take(len(self.body))
        return put_post(desk, self.topic_id, self.body, memo=self.memo, payer=self.payer, id=self.id)


class SignPost(Act["str | None"]):
    """The signed bytes of a post are kept before anybody submits them. Gives those that are kept: whoever was first has signed.

    Nothing, where it waits no more: another has put it there already, and it is not to stand there twice.
    """

    def __init__(self, id: str, signed: str | None, instead_of: str | None = None) -> None:
        self.id = id
        self.signed = signed
        self.instead_of = instead_of
        self.name = f"signed_post:{id}"

    def ask(self, needs: Needs) -> None:
        needs.boxes.add(SYSTEM)
        needs.extra[self.name] = (self.id,)

    def run(self, desk: Desk) -> str | None:
        for (kept,) in desk.extra[self.name]:
            if kept == self.instead_of:
                desk.extra[self.name] = [(self.signed,)]
                desk.write("sign_post", (self.id, self.signed), self.id)
        return next((kept for (kept,) in desk.extra[self.name]), None)


class SettlePost(Act[None]):
    """A post is on the ledger, waits for another try, or never will be there: then its message is dead, unless it was delivered.

    Whoever wrote it is told in any case: it was accepted as something that the ledger would have.
    """

    def __init__(self, post: Post, *, error: str | None = None, retry_in: timedelta | None = None) -> None:
        self.post = post
        self.error = error
        self.retry_in = retry_in
        self.name = f"signed_post:{post.id}"
        refused = error is not None and retry_in is None and post.message_id is not None
        self.refusal = Release(post.mailbox, post.message_id or "", error) if refused and post.mailbox is not None else None
        self.author = folded(note_author(post)) if refused and post.mailbox is None else None

    def ask(self, needs: Needs) -> None:
        needs.boxes.add(SYSTEM)
        needs.extra[self.name] = (self.post.id,)
        if self.refusal is not None:
            self.refusal.ask(needs)
        if self.author is not None:
            needs.boxes.add(self.author)

    def ask_more(self, needs: Needs, desk: Desk) -> None:
        if self.refusal is not None:
            self.refusal.ask_more(needs, desk)
        if self.author is not None:
            needs.thread_keys.add((*pair(SYSTEM, self.author), ""))

    def run(self, desk: Desk) -> None:
        if self.refusal is not None:
            with suppress(NoSuchMessage):  # delivered at once, read, and purged since
                if self.refusal.run(desk).state != State.DEAD:
                    row = desk.mail[self.refusal.message_id, self.refusal.mailbox]
                    self._tell(desk, row.sender, f"message to {desk.boxes[row.mailbox].name} was delivered")
        elif self.author is not None:
            self._tell(desk, self.author, f"note on {self.post.topic_id} is kept in the office")
        state = "submitted" if self.error is None else "failed" if self.retry_in is None else "waiting"
        due_at = desk.now + micros(self.retry_in or timedelta(0))
        desk.write("settle_post", (self.post.id, state, due_at, self.error), self.post.id)

    def _tell(self, desk: Desk, author: str, what: str) -> None:
        if desk.extra[self.name] and author in desk.boxes:  # another may have been told the same, and told it
            notice = not_on_ledger(what, self.error, self.post.topic_id, self.post.message_id)
            notify(desk, desk.boxes[author], notice)


class Materialise(Act[int]):
    """What a topic tells, taken once: the cursor moves with the mail, and what is taken ahead of it is known by its record.

    Gives how much was new.
    """

    def __init__(self, topic_id: str, through: int, seen: tuple[Sighting, ...], *, strangers: bool) -> None:
        self.topic_id = topic_id
        self.name = f"ledger:{topic_id}"
        self.through = through
        self.seen = seen
        self.sends = {
            # Whoever put it on the ledger has paid for it there; and after days away all of it comes in one minute.
            one.sequence: [
                Send(mail.sender, mail.draft, verified=mail.verified, strangers=strangers, rated=False) for mail in one.deliveries
            ]
            for one in seen
        }

    def ask(self, needs: Needs) -> None:
        needs.boxes.add(SYSTEM)
        needs.extra[f"cursor:{self.name}"] = (self.name,)
        needs.extra[f"recorded_ahead:{self.topic_id}"] = (self.topic_id,)
        ask_for_topics(needs)
        for one in self.seen:
            if (key := _ours(one)) is not None:
                needs.mail[key] = True
                needs.bodies.add(key)
            elif (note := _our_note(one)) is not None:
                needs.extra[f"sender_of:{note}"] = (note,)
            for send in self.sends[one.sequence]:
                send.ask(needs)

    def ask_more(self, needs: Needs, desk: Desk) -> None:
        for key in map(_ours, self.seen):
            if key is not None and key not in desk.mail:
                needs.extra[_purged_by(key)] = key
        for sends in self.sends.values():
            for send in sends:
                send.ask_more(needs, desk)

    def run(self, desk: Desk) -> int:
        before = max((int(value) for (value,) in desk.extra[f"cursor:{self.name}"]), default=0)
        ahead = desk.extra[f"recorded_ahead:{self.topic_id}"]
        new = [one for one in self.seen if one.sequence > before and (one.sequence,) not in ahead]
        desk.room.take(sum(len(one.raw) for one in new) * _COPIES_KEPT)  # for all of it: nothing is refused halfway
        for one in new:
            verdict, message_id, reason = self._take(desk, one)
            row = (self.topic_id, one.sequence, one.payer, one.at, verdict, message_id, reason, one.raw, desk.now)
            desk.write("add_ledger_record", row, (self.topic_id, one.sequence))
        desk.extra[f"recorded_ahead:{self.topic_id}"] = [*ahead, *((one.sequence,) for one in new)]
        if self.through > before:
            desk.extra[f"cursor:{self.name}"] = [(str(self.through),)]
            desk.write("put_cursor", (self.name, str(self.through)), self.name)
        return len(new)

    def _take(self, desk: Desk, one: Sighting) -> tuple[str, str | None, str | None]:
        """The verdict, the message it is about, and why."""
        if one.refusal is not None:
            return "quarantined", None, one.refusal
        if one.verdict is not None:
            return one.verdict, None, None
        key = _ours(one)
        row = None if key is None else desk.mail.get(key)
        if row is not None:
            return _confirm(desk, one, row)
        if (post := _known_again(desk, one)) is not None:
            desk.write("confirm_post", post, post)
            return "confirmed", post[0], None
        if one.body is not None and (why := _only_from_here(one, one.body)) is not None:
            return "quarantined", one.body.id if is_id(one.body.id or "") else None, f"{why}, and the message is not ours"
        taken, refusals = None, []
        for send in self.sends[one.sequence]:  # each by itself: one who refuses takes nothing from the others
            try:
                taken = send.run(desk).message_id
            except Unavailable:  # no refusal: what was missed halfway undoes all of it
                raise
            except MailError as error:
                refusals.append(str(error))
        verdict = "delivered" if taken else "quarantined" if refusals else "noted"
        return verdict, taken, " ".join(refusals) or None


def _only_from_here(one: Sighting, body: Body) -> str | None:
    """Why it is of no use unless the office has sent it itself."""
    if one.former:
        return f"it is to {one.mailbox} or by {one.sender} as they were before"
    return None if body.hash is None else "only its hash is there"


def _confirm(desk: Desk, one: Sighting, row: DeliveryRow) -> tuple[str, str | None, str | None]:
    """Ours has come back, if it is by the same sender and says the same."""
    if row.sender != folded(one.sender or ""):
        return "quarantined", row.message_id, f"it says to be {row.message_id}, which is another's message"
    if one.body is None or not matches(one.body, row.read()):
        return "quarantined", row.message_id, f"it says to be {row.message_id}, but says something else"
    theirs = known_accounts(desk).get(row.mailbox)
    if theirs is not None and theirs.foreign:
        if row.state in UNREAD:  # it lies where its recipient reads it, and nowhere else
            settle(desk, row)
    elif row.hidden:  # not one that waits for another try
        let_through(desk, row)
    desk.write("confirm_post", (row.message_id, row.mailbox), (row.message_id, row.mailbox))
    return "confirmed", row.message_id, None


def _ours(one: Sighting) -> tuple[str, str] | None:
    """The delivery it may be the confirmation of."""
    if one.body is None or one.mailbox is None or one.body.id is None or not is_id(one.body.id):
        return None
    return one.body.id, folded(one.mailbox)


def _known_again(desk: Desk, one: Sighting) -> tuple[str, str | None] | None:
    """The post it confirms where no delivery is left: a note's, or one whose mail was purged."""
    key, note, sender = _ours(one), _our_note(one), [(folded(one.sender or ""),)]
    if key is not None:
        return key if desk.extra[_purged_by(key)] == sender else None
    return (note, None) if note is not None and desk.extra[f"sender_of:{note}"] == sender else None


def _purged_by(key: tuple[str, str]) -> str:
    """What tells who sent it, if it was delivered at once, read and purged before the ledger told of it."""
    return f"purged_by:{key[0]}:{key[1]}"


def _our_note(one: Sighting) -> str | None:
    """The note it may be the confirmation of."""
    if one.body is None or one.mailbox is not None or one.body.id is None or not is_id(one.body.id):
        return None
    return one.body.id

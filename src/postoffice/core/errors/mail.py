"""What can be wrong with messages, mailboxes, sessions and leases."""

from postoffice.core.errors.kinds import Conflict, Forbidden, Invalid, Limited, NotFound, Unavailable


class BadMessage(Invalid):
    """The message's {field} is wrong: {why}."""


class OneRecipient(Invalid):
    """A {what} goes to exactly one agent; send one message for each."""


class NotAdmitted(Forbidden):
    """{recipient} does not take mail from {sender}; ask for a connection, or have {recipient} list {sender} in allow_from."""


class NotParticipant(Forbidden):
    """{name} takes no part in session {session!r}; only its two agents read and write there."""


class NoSuchMessage(NotFound):
    """{name} has no message {ref!r}; check the id."""


class TooShortId(NotFound):
    """{name} has no message {ref!r}, and it is too short for the end of an id; give at least the last {least} characters."""


class NothingToAnswer(NotFound):
    """{name} has neither sent nor got a message {ref!r}, so it cannot answer it; check reply_to, or leave it out."""


class NoSuchSession(NotFound):
    """There is no session {session!r}; leave the session out to begin one."""


class IdConflict(Conflict):
    """{sender} already sent another message with the id {client_id!r}; give a new message a new id."""


class AmbiguousId(Conflict):
    """{ref!r} names more than one message of {name}; use the office's own id."""


class AlreadyAnswered(Conflict):
    """{name} has answered message {ref} itself meanwhile; the automatic reply was not sent."""


class AmbiguousEnding(AmbiguousId):
    """{ref!r} is ambiguous, the ids of more than one message of {name} end so ({ids}); give more of its last characters."""


class AmbiguousBeginning(AmbiguousId):
    """{ref!r} is ambiguous, the ids of more than one message of {name} begin so ({ids} …); give more of its characters, or its last ones."""


class LeaseLost(Conflict):
    """The lease on {ref} is not held (settled, given back, or taken by another since it ran out); receive again."""


class NotDead(Conflict):
    """Message {ref} is {state}, not dead; only dead letters are requeued or discarded."""


class NotWaiting(Conflict):
    """Message {ref} is {state} and waits for nobody any more."""


class TooLateToCancel(Conflict):
    """Message {ref} does not wait any more ({states}); only what nobody has taken yet can be canceled, or a task that is not over."""


class Deadlock(Conflict):
    """{names} wait for each other's answer, so that none comes; answer what you hold first, or stop waiting."""


class WasCanceled(Conflict):
    """Message {ref} was canceled by its sender, and cannot be requeued."""


class LoopRefused(Conflict):
    """Not forwarded to {to}: {why}."""


class MailboxFull(Limited):
    """{recipient}'s mailbox holds {depth} waiting messages, its limit; send again when it has read some."""


class MailboxHeavy(MailboxFull):
    """{recipient}'s mailbox holds {size} bytes of waiting mail, its limit is {limit}; send again when it has read some, or send references."""


class TalkHeld(Limited):
    """Session {session} is held after {letters} letters to and fro without a person's word; the owner was asked. Go on when a person has written."""


class BudgetSpent(Limited):
    """The {limit} automatic replies of session {session} are spent; a message that is not automatic refills them."""


class NoReply(Unavailable):
    """{to} did not answer within {seconds} seconds{meanwhile}; its mail is kept, and a late answer waits in your mailbox."""


class Undelivered(Unavailable):
    """{to} does not answer: the message is a dead letter ({why}). See `postoffice dead`, and send it again when that is mended."""


class WouldBeAnOption(Invalid):
    """The command that handles this mail would take it for an option: {word} begins with '-'. Begin with something else and send again."""


class MailboxClosed(Conflict):
    """{agent}'s mailbox was left while this call waited in it; wait inside the block that opened it."""

"""What can be wrong between the office and a ledger."""

from postoffice.core.errors.kinds import Conflict, Forbidden, Invalid, NotFound, Unavailable
from postoffice.core.errors.server import BadSetting


class OtherLedger(BadSetting):
    """The office's topics are on the ledger {known!r}, and mean something else on {network!r}; give another ledger an office with data of its own."""


class LedgerUnused(BadSetting):
    """The office uses no ledger, and topics would be paid for in vain; start it with --ledger {network} first."""


class NotOurs(Invalid):
    """What stands on the ledger is no message of ours: {why}."""


class Forged(NotOurs):
    """What stands on the ledger is forged: {why}."""


class NoLedger(Invalid):
    """No ledger is kept here; start the office with one, or send without."""


class OutOfReach(Forbidden):
    """{recipient} is an agent of other software, and {sender} has no open connection with it on the ledger; `postoffice ledger connect` asks for one."""


class NoInbound(NotFound):
    """No inbound topic can be found by {whom!r}: {why}; give the agent's inbound topic itself."""


class TopicTaken(Conflict):
    """Topic {topic} is {agent}'s already; every agent has its own."""


class TopicWatched(TopicTaken):
    """Topic {topic} is listened to already, and for another reason ({kind}); name another."""


class LedgerBusy(Unavailable):
    """The ledger does not take it now ({why}); it is tried again."""


class MirrorAway(LedgerBusy):
    """The ledger's mirror cannot be asked now ({why}); it is tried again."""


class NeedsOwner(Unavailable):
    """The ledger takes nothing from this office: {why}."""


class Expired(Unavailable):
    """It was signed too long ago; it is signed anew."""


class Spent(Unavailable):
    """The ledger took it and it failed at its turn ({why}); it is signed anew."""


class LedgerRefused(Unavailable):
    """The ledger refused it: {why}."""

"""Every way the office says no. A class is an error: its name is the stable code, its docstring the message.

MailError
├── Invalid        the request itself is wrong
├── Unidentified   we do not know who is asking
├── Forbidden      we know, and the answer is no
├── NotFound       there is nothing of that name
├── Conflict       it clashes with what is already so
├── Limited        too much, for now
└── Unavailable    the fault is ours; try again
"""

import re
from typing import ClassVar


class MailError(Exception):
    """Something went wrong with the mail."""

    code: ClassVar[str] = "mail_error"

    def __init_subclass__(cls) -> None:
        cls.code = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", cls.__name__).lower()

    def __init__(self, **facts: object) -> None:
        self.facts = facts
        super().__init__(" ".join((self.__doc__ or "").split()).format(**facts))


class Invalid(MailError):
    """{what} is not valid: {why}."""


class Repeated(Invalid):
    """{what} came more than once, and only one can count; send it once."""


class BadName(Invalid):
    """{name!r} cannot name an agent: use 1 to 100 letters, digits, '.', '_' or '-', beginning with a letter or digit."""


class ReservedName(Invalid):
    """{name!r} is reserved; {instead}."""


class BadText(Invalid):
    """{where} holds {what}, which no mailbox can keep; remove it and send again."""


class BadMessage(Invalid):
    """The message's {field} is wrong: {why}."""


class TooLarge(Invalid):
    """The {what} is {size} long, more than the {limit} allowed; send less, or a reference to it."""


class BadLimit(Invalid):
    """{what} must be between {least} and {most}, not {value}."""


class BadCursor(Invalid):
    """{cursor!r} is not a cursor of this list; start again without one."""


class BadQuery(Invalid):
    """The search {query!r} has no words to look for; give at least one."""


class BadSetting(Invalid):
    """The setting {name} is wrong: {why}."""


class NotSafe(Invalid):
    """Not started: {why}."""


class OtherLedger(BadSetting):
    """The office's topics are on the ledger {known!r}, and mean something else on {network!r}; give another ledger an office with data of its own."""


class LedgerUnused(BadSetting):
    """The office uses no ledger, and topics would be paid for in vain; start it with --ledger {network} first."""


class BadJson(Invalid):
    """The body cannot be read as JSON: {why}."""


class NotOurs(Invalid):
    """What stands on the ledger is no message of ours: {why}."""


class Forged(NotOurs):
    """What stands on the ledger is forged: {why}."""


class NoLedger(Invalid):
    """No ledger is kept here; start the office with one, or send without."""


class WrongMethod(Invalid):
    """{path} does not take {method}; see /docs for what it takes."""


class ToOneself(Invalid):
    """{name} cannot ask for a connection to itself; name another agent."""


class OneRecipient(Invalid):
    """A {what} goes to exactly one agent; send one message for each."""


class Unidentified(MailError):
    """Who is calling is not known; give a key, or on an open server a name."""


class NobodySpeaks(Unidentified):
    """Who speaks is not known; name an agent with --as, or say in POSTOFFICE_DATA where this office keeps its data, to speak as its owner."""


class KeyRequired(Unidentified):
    """{name} can only be used with its key; send the key with the call."""


class KeyNotHere(KeyRequired):
    """{name} can only be used with its key, and none is kept here; keep it with `postoffice login`, or give it in POSTOFFICE_KEY."""


class BadKey(Unidentified):
    """That key is unknown, expired or revoked; use a current key."""


class AnotherOffice(BadKey):
    """The owner's key in {path} is not this office's; speak as an agent with --as, or say in POSTOFFICE_DATA where this office keeps its data."""


class KeyRefused(Unidentified):
    """The key that was given is not one of {server}'s, or is no longer; check it, and --server. Nothing was kept."""


class NoKeyGiven(Unidentified):
    """No key was given; write it to standard input or into POSTOFFICE_KEY, or call this on a terminal, where it is asked for."""


class BadLink(Unidentified):
    """That link was used already, is older than ten minutes, or was never made; `postoffice login` makes a new one."""


class NoVisit(Unidentified):
    """The page is closed to strangers; open the link that `postoffice login` prints."""


class AuthTimeout(Unidentified):
    """No key came in time; connect again and send it first."""


class Forbidden(MailError):
    """{name} may not do that: {why}."""


class NotYou(Forbidden):
    """The call speaks as {claimed}, but its key belongs to {name}; use {claimed}'s key or drop the other name."""


class WrongHost(Forbidden):
    """The host {host!r} is not one this server answers to; use its address, or list the name in the setting allowed_hosts."""


class WrongOrigin(Forbidden):
    """Pages of {origin!r} may not call this server; list them in the setting cors_origins if they should."""


class BeyondLoopback(Forbidden):
    """An open server answers on its own machine only; to reach it from elsewhere, start it with --auth keys."""


class ForeignForm(Forbidden):
    """A change has to come from the page itself, and this one does not say that it does; open the page and try there."""


class NotAtHome(Forbidden):
    """{name} is not at home in these files; it writes through a door of its own."""


class NotAdmitted(Forbidden):
    """{recipient} does not take mail from {sender}; ask for a connection, or have {recipient} list {sender} in allow_from."""


class OutOfReach(Forbidden):
    """{recipient} is an agent of other software, and {sender} has no open connection with it on the ledger; `postoffice ledger connect` asks for one."""


class NotParticipant(Forbidden):
    """{name} takes no part in session {session!r}; only its two agents read and write there."""


class NotAssignee(Forbidden):
    """Task {task} is assigned to {assignee}, so {name} cannot move it."""


class NotTarget(Forbidden):
    """That request is aimed at another agent than {name}; only its target may answer it."""


class OwnerOnly(Forbidden):
    """Only the owner of this server may {what}."""


class NotFound(MailError):
    """There is no {what} {ref!r}."""


class NoSuchPath(NotFound):
    """There is nothing at {path}; see /docs for what there is."""


class NoSuchTool(NotFound):
    """There is no tool {name!r} here; these are: {known}."""


class NoSuchAgent(NotFound):
    """There is no agent {name!r}: {hint}."""


class NoSuchMessage(NotFound):
    """{name} has no message {ref!r}; check the id."""


class NoSuchSession(NotFound):
    """There is no session {session!r}; leave the session out to begin one."""


class NoSuchTask(NotFound):
    """There is no task {task!r} that {name} has to do with."""


class NoSuchConnection(NotFound):
    """There is no {status} connection {ref!r} for {name}."""


class NoSuchCode(NotFound):
    """No pending request has that code; it may be used, rejected or expired."""


class NoSuchKey(NotFound):
    """{name} has no key {which}."""


class NoInbound(NotFound):
    """No inbound topic can be found by {whom!r}: {why}; give the agent's inbound topic itself."""


class Conflict(MailError):
    """That clashes with what is already so: {why}."""


class NameTaken(Conflict):
    """The name {name!r} is taken; choose another, or use its key."""


class IdConflict(Conflict):
    """{sender} already sent another message with the id {client_id!r}; give a new message a new id."""


class AmbiguousId(Conflict):
    """{ref!r} names more than one message of {name}; use the office's own id."""


class LeaseLost(Conflict):
    """The lease on {ref} is not held (expired, settled or given to another); receive again."""


class AlreadyConnected(Conflict):
    """{requester} and {target} are connected already."""


class AlreadyRequested(Conflict):
    """{requester} has asked {target} already; wait for the answer."""


class TopicTaken(Conflict):
    """Topic {topic} is {agent}'s already; every agent has its own."""


class TopicWatched(TopicTaken):
    """Topic {topic} is listened to already, and for another reason ({kind}); name another."""


class TaskFinal(Conflict):
    """Task {task} is {state} already, which is final."""


class BadTaskMove(Conflict):
    """Task {task} cannot go from {state} to {wanted}."""


class DeadlinePassed(Conflict):
    """The deadline of task {task} passed at {deadline}; it can only be rejected or failed."""


class NotDead(Conflict):
    """Message {ref} is {state}, not dead; only dead letters are requeued or discarded."""


class LoopRefused(Conflict):
    """Not forwarded to {to}: {why}."""


class Limited(MailError):
    """Too much: {why}; try again later."""


class MailboxFull(Limited):
    """{recipient}'s mailbox holds {depth} waiting messages, its limit; send again when it has read some."""


class MailboxHeavy(MailboxFull):
    """{recipient}'s mailbox holds {size} bytes of waiting mail, its limit is {limit}; send again when it has read some, or send references."""


class RateLimited(Limited):
    """{who} has done this {limit} times in {seconds} seconds, which is the limit; wait {retry_after} seconds."""


class BytesLimited(RateLimited):
    """{who} has sent {limit} bytes within {seconds} seconds, which is the limit; wait {retry_after} seconds, or send references."""


class TooSlow(Limited):
    """The request took longer than {seconds} seconds to arrive; send it again, faster."""


class SlowReader(Limited):
    """Events were not read for {seconds} seconds; connect again with the last cursor to go on."""


class OverQuota(Limited):
    """{name} has {count} tasks under way, its limit is {limit}; finish one first."""


class TooManyRequests(Limited):
    """{name} has {count} connection requests waiting, the limit; have some answered first."""


class TooManyWaits(Limited):
    """{name} keeps {count} waits, sockets and pages open here, the limit; close some of them first."""


class TooManyKeys(Limited):
    """{name} has {count} keys, the limit; revoke those it has no use for first."""


class BudgetSpent(Limited):
    """The {limit} automatic replies of session {session} are spent; a message that is not automatic refills them."""


class Unavailable(MailError):
    """The office cannot do that now: {why}; try again."""


class OutcomeUnknown(Unavailable):
    """Whether that was committed is not known ({why}); send it again with the same id."""


class DiskFull(Unavailable):
    """The disk of the mailbox database is full; nothing was stored. Free some space and try again; what is there can be read and settled."""


class StoreFull(DiskFull):
    """The mail takes {size} bytes, and may take {limit} (total_bytes); nothing was stored. Have old mail purged (retention), or allow more."""


class ReadOnly(Unavailable):
    """The mailbox database cannot be written ({why}); nothing was stored."""


class Damaged(Unavailable):
    """The mailbox database is damaged ({why}); stop the office and bring a backup back: postoffice restore FILE --data NEW."""


class DatabaseLost(Unavailable):
    """The database does not answer ({why}); nothing was stored. See that it runs, and try again."""


class DatabaseInUse(Unavailable):
    """{path} is in use by another postoffice (process {pid}); stop that one, or choose another --data directory."""


class NoRegistry(Unavailable):
    """The registry in {root} cannot be read, so nobody knows who is at home there; its agents enter themselves again."""


class FilesInUse(Unavailable):
    """Another office serves the files in {root}; stop it, or give this one files of its own."""


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


class CannotListen(Unavailable):
    """Cannot listen on {host}:{port} ({why}); choose another --host or --port, or stop what uses it."""


class NoAnswer(Unavailable):
    """No office answers at {server}; start it there with `postoffice serve`, or say where it is, and try again."""


class BrokeOff(Unavailable):
    """The office at {server} broke off before it answered: that may be done or not; look, or send it again with the same id if it had one."""


class NoReply(Unavailable):
    """{to} did not answer within {seconds} seconds; its mail is kept, and a late answer waits in your mailbox."""


class ExtraMissing(Unavailable):
    """The settings ask for something that is not installed; run `pip install 'postoffice[{extra}]'`."""


class MigrationFailed(Unavailable):
    """The migration failed and changed nothing: {why}."""


class CommandFailed(Unavailable):
    """The command failed: {why}."""


class WouldBeAnOption(Invalid):
    """The command that handles this mail would take it for an option: {word} begins with '-'. Begin with something else and send again."""


class BackupFailed(Unavailable):
    """Nothing was changed: {why}."""


class SchemaMissing(Unavailable):
    """The database has schema {found}, this program needs {needed}; run `postoffice migrate`."""


class SchemaTooNew(Unavailable):
    """The database needs program generation {oldest} or newer, this is {program}; upgrade postoffice."""


class MailboxClosed(Conflict):
    """{agent}'s mailbox was left while this call waited in it; wait inside the block that opened it."""


class Closed(Unavailable):
    """The office is closing; the call was not begun."""


def why(error: BaseException) -> str:
    """The first line of what somebody else's error says, or what it is where it says nothing; a driver adds details and hints below it."""
    return str(error).partition("\n")[0] or type(error).__name__


def told(code: str, detail: str) -> MailError:
    """A refusal that came from elsewhere, as the error it is here. One we do not know is a MailError with its own code."""
    kind = error_tree().get(code, MailError)
    error = kind.__new__(kind, detail)  # its words are there already
    error.facts = {"code": code}
    return error


def error_tree() -> dict[str, type[MailError]]:
    """Every error by its code: what doors map to statuses, and what tests walk."""
    found: dict[str, type[MailError]] = {}
    todo = [MailError]
    while todo:
        cls = todo.pop()
        found[cls.code] = cls
        todo += cls.__subclasses__()
    return found

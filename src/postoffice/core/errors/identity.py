"""Why a caller is not believed, not known or not allowed."""

from postoffice.core.errors.kinds import Conflict, Forbidden, Invalid, Limited, NotFound, Unidentified


class BadName(Invalid):
    """{name!r} cannot name an agent: use 1 to 100 letters, digits, '.', '_' or '-', beginning with a letter or digit."""


class ReservedName(Invalid):
    """{name!r} is reserved; {instead}."""


class LooksAlike(Invalid):
    """{name!r} looks like {other!r}, who is another agent; choose a name that nobody takes for it, or have the owner register this one."""


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


class BadInvite(Unidentified):
    """That invitation was used already, is older than an hour, or was never made; have the owner make another: `postoffice invite NAME`."""


class BadLink(Unidentified):
    """That link was used already, is older than ten minutes, or was never made; `postoffice login` makes a new one."""


class NoLogin(Unidentified):
    """The page is closed to strangers; open the link that `postoffice login` prints."""


class NotYou(Forbidden):
    """The call speaks as {claimed}, but its key belongs to {name}; use {claimed}'s key or drop the other name."""


class NotAtHome(Forbidden):
    """{name} is not at home in these files; it writes through a door of its own."""


class OwnerOnly(Forbidden):
    """Only the owner of this server may {what}."""


class PersonsOnly(Forbidden):
    """Only people may do that, and {name} is not marked as one; the owner marks a person on its card."""


class NoSuchAgent(NotFound):
    """There is no agent {name!r}: {hint}."""


class NoSuchKey(NotFound):
    """{name} has no key {which}."""


class NameTaken(Conflict):
    """The name {name!r} is taken; choose another, or use its key."""


class NotForgotten(Conflict):
    """{name} {why}, and what an agent did stays on record; forget only names that nobody ever used. Without its keys nobody can use it."""


class TooManyKeys(Limited):
    """{name} has {count} keys, the limit; revoke those it has no use for first."""


class NoSuchWindow(NotFound):
    """There is no open window {id!r} of yours; open it again."""


class NotRung(Conflict):
    """{name} was not rung: {why}."""


class WindowTaken(Conflict):
    """{name} is open in another window; close that, or say that both share its mailbox."""


class MachineOnly(Forbidden):
    """A machine's key opens windows and speaks for their agents; name one of them, beginning with {prefix}-."""

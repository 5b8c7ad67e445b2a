"""What can be wrong with connections and requests for them."""

from postoffice.core.errors.kinds import Conflict, Forbidden, Invalid, Limited, NotFound


class ToOneself(Invalid):
    """{name} cannot ask for a connection to itself; name another agent."""


class NotTarget(Forbidden):
    """That request is aimed at another agent than {name}; only its target may answer it."""


class NoSuchConnection(NotFound):
    """There is no {status} connection {ref!r} for {name}."""


class NoSuchCode(NotFound):
    """No pending request has that code; it may be used, rejected or expired."""


class CodeWasMailed(Forbidden):
    """That code stood in a letter to {name}, so it proves no person's consent. {requester} has a new one now, which a person must pass on."""


class AlreadyConnected(Conflict):
    """{requester} and {target} are connected already."""


class AlreadyRequested(Conflict):
    """{requester} has asked {target} already; wait for the answer."""


class TooManyRequests(Limited):
    """{name} has {count} connection requests waiting, the limit; have some answered first."""

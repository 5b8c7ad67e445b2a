"""What can be wrong with roles."""

from postoffice.core.errors.kinds import Conflict, Forbidden, Invalid, NotFound


class BadRole(Invalid):
    """{name!r} names no role: write role: and a name of letters, digits, '.', '_' or '-', as in role:reviewer."""


class NoSuchRole(NotFound):
    """There is no role {name!r}; see which there are, or make it: postoffice roles make {name}."""


class RoleTaken(Conflict):
    """There is a role {name!r} already; change who is in it instead."""


class RoleInUse(Conflict):
    """{count} letters of {name} are in hand; delete the role when they are done with, or take its agents out of it first."""


class NotItsMaker(Forbidden):
    """Only {maker}, who made {name}, or the owner may {what}."""


class NotInRole(Forbidden):
    """{agent} is not in {name}; whoever made the role, or the owner, can put it there."""

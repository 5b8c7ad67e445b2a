"""What can be wrong with lists."""

from postoffice.core.errors.kinds import Conflict, Forbidden, Limited, NotFound


class NoSuchList(NotFound):
    """There is no list {name!r}; see which lists there are, or make it."""


class ListTaken(Conflict):
    """There is a list {name} already; join it, or choose another name."""


class NotYourList(Forbidden):
    """Only {owner}, who keeps {name}, and the owner of this server may {what}."""


class MayNotPost(Forbidden):
    """{name} takes mail from {who}, and {sender} is none of them; {instead}."""


class MayNotJoin(Forbidden):
    """{agent} may not join {name} by itself: {owner} decides who is on it; write to {owner}."""


class NotOnList(NotFound):
    """{agent} is not on {name}; see who is."""


class ListFull(Limited):
    """{name} has {count} members, its limit is {limit}; divide it."""


class TooManyLists(Limited):
    """{agent} keeps {count} lists, no more than {limit} are kept by one agent; delete one first."""

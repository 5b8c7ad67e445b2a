"""What can be wrong with a request, whatever it asks for."""

from postoffice.core.errors.kinds import Forbidden, Invalid, Limited, NotFound, Unavailable, Unidentified


class Repeated(Invalid):
    """{what} came more than once, and only one can count; send it once."""


class BadText(Invalid):
    """{where} holds {what}, which no mailbox can keep; remove it and send again."""


class TooLarge(Invalid):
    """The {what} is {size} long, more than the {limit} allowed; send less, or a reference to it."""


class BadLimit(Invalid):
    """{what} must be between {least} and {most}, not {value}."""


class BadCursor(Invalid):
    """{cursor!r} is not a cursor of this list; start again without one."""


class BadQuery(Invalid):
    """A search needs something to look for: give at least one word, or a filter such as from:NAME or after:2026-02-28."""


class BadJson(Invalid):
    """The body cannot be read as JSON: {why}."""


class WrongMethod(Invalid):
    """{path} does not take {method}; see /docs for what it takes."""


class AuthTimeout(Unidentified):
    """No key came in time; connect again and send it first."""


class WrongHost(Forbidden):
    """The host {host!r} is not one this server answers to; use its address, or list the name in the setting allowed_hosts."""


class WrongOrigin(Forbidden):
    """Pages of {origin!r} may not call this server; list them in the setting cors_origins if they should."""


class BeyondLoopback(Forbidden):
    """An open server answers on its own machine only; to reach it from elsewhere, start it with --auth keys."""


class ForeignForm(Forbidden):
    """A change has to come from the page itself, and this one does not say that it does; open the page and try there."""


class NoSuchPath(NotFound):
    """There is nothing at {path}; see /docs for what there is."""


class NoSuchTool(NotFound):
    """There is no tool {name!r} here; these are: {known}."""


class RateLimited(Limited):
    """{who} has done this {limit} times in {seconds} seconds, which is the limit; wait {retry_after} seconds."""


class BytesLimited(RateLimited):
    """{who} has sent {limit} bytes within {seconds} seconds, which is the limit; wait {retry_after} seconds, or send references."""


class TooSlow(Limited):
    """The request took longer than {seconds} seconds to arrive; send it again, faster."""


class SlowReader(Limited):
    """Events were not read for {seconds} seconds; connect again with the last cursor to go on."""


class TooManyWaits(Limited):
    """{name} keeps {count} waits, sockets and pages open here, the limit; close some of them first."""


class Closed(Unavailable):
    """The office is closing; the call was not begun."""

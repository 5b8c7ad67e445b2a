"""What can be wrong with reservations."""

from postoffice.core.errors.kinds import Conflict, Limited, NotFound


class AlreadyReserved(Conflict):
    """{path!r} is reserved by {holder} until {until}{said}."""


class NoSuchReservation(NotFound):
    """There is no reservation {id!r} of yours; it may have ended."""


class TooManyReservations(Limited):
    """{name} has {count} reservations, no more than {limit} are kept; release one first."""

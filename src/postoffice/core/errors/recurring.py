"""What can be wrong with recurring letters."""

from postoffice.core.errors.kinds import Limited, NotFound


class NoSuchRecurring(NotFound):
    """There is no recurring letter {id!r} of yours; list them to see what there is."""


class TooManyRecurring(Limited):
    """{name} has {count} recurring letters, no more than {limit} are kept; stop one first."""

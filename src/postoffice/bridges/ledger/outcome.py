"""How a call to the ledger can end otherwise than well."""

from postoffice.core.errors import Unavailable


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

"""How an office is run: who may come in, how consent is given, and the numbers it goes by."""

import msgspec

from postoffice.core.connection import Handshake
from postoffice.core.limits import Limits
from postoffice.core.policy import Auth
from postoffice.core.routing import Route


class LedgerRules(msgspec.Struct, frozen=True, kw_only=True):
    """That mail goes by a ledger, and how."""

    private: bool = False
    """Only fingerprints are put there; what is said stays here."""
    log: bool = False
    """Agents' public logs tell that they sent something."""


class OfficeRules(msgspec.Struct, frozen=True, kw_only=True):
    """The rules of one office."""

    auth: Auth = Auth.OPEN
    handshake: Handshake = Handshake.VISIBLE
    limits: Limits = Limits()
    ledger: LedgerRules | None = None
    routes: tuple[Route, ...] = ()
    """Who is told of what happens to entities."""
    public_url: str | None = None
    """Where people reach this office from elsewhere; without it nobody is sent a link."""
    tick: float = 1.0
    """How often, in seconds, the office looks for what no hint told it of."""

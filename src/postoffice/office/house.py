"""How this house is run: who may come in, how consent is given, and the numbers it goes by."""

import msgspec

from postoffice.core.connection import Handshake
from postoffice.core.limits import Limits
from postoffice.core.policy import Auth


class House(msgspec.Struct, frozen=True, kw_only=True):
    """The rules of one office."""

    auth: Auth = Auth.OPEN
    handshake: Handshake = Handshake.VISIBLE
    limits: Limits = Limits()
    tick: float = 1.0
    """How often, in seconds, the office looks for what no hint told it of."""

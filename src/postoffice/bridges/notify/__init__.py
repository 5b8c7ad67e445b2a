"""What takes words to the owner's notify addresses."""

from postoffice.bridges.notify.messenger import Messenger

__all__ = ["Messenger"]

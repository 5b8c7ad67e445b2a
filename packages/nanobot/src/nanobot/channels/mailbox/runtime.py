"""The channel itself, under the name its manifest gives."""

from postoffice_nanobot.channel import MailboxChannel

__all__ = ["MailboxChannel"]

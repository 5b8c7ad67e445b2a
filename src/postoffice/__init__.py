"""Durable mail between AI agents."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from postoffice.client.mailbox import Mailbox

__version__ = "0.1.0"
__all__ = ["Mailbox", "__version__"]


def __getattr__(name: str) -> Any:
    """`from postoffice import Mailbox` loads the client only for those who ask for it."""
    if name == "Mailbox":
        from postoffice.client.mailbox import Mailbox  # noqa: PLC0415

        return Mailbox
    message = f"module 'postoffice' has no attribute {name!r}"
    raise AttributeError(message)

"""The bridge that tells the owner's webhooks what happens."""

from postoffice.bridges.webhooks.bridge import WebhookBridge

__all__ = ["WebhookBridge"]

"""The bridge that tells addresses of the owner's what happens."""

from postoffice.bridges.webhooks.bridge import WebhookBridge

__all__ = ["WebhookBridge"]

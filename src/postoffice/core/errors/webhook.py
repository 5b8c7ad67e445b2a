"""What can be wrong with webhooks."""

from postoffice.core.errors.kinds import Conflict, NotFound


class NoSuchWebhook(NotFound):
    """There is no webhook {name!r}; GET /webhooks lists them."""


class WebhookTaken(Conflict):
    """There is a webhook {name!r} already; remove it first, or choose another name."""

"""What can be wrong with webhooks and hooks."""

from postoffice.core.errors.kinds import Conflict, NotFound, Unidentified


class NoSuchWebhook(NotFound):
    """There is no webhook {name!r}; GET /webhooks lists them."""


class WebhookTaken(Conflict):
    """There is a webhook {name!r} already; remove it first, or choose another name."""


class NoSuchHook(NotFound):
    """There is no such hook; it may have been revoked."""


class BadSignature(Unidentified):
    """The signature is not right: {why}."""

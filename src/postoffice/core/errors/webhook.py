"""What can be wrong with webhooks and hooks."""

from postoffice.core.errors.kinds import Conflict, NotFound, Unavailable, Unidentified


class NoSuchWebhook(NotFound):
    """There is no webhook {name!r}; GET /webhooks lists them."""


class WebhookTaken(Conflict):
    """There is a webhook or a notify address {name!r} already; remove it first, or choose another name."""


class NoSuchNotify(NotFound):
    """There is no notify address {name!r}; GET /notify lists them."""


class NoSuchAnswerLink(NotFound):
    """There is no link {id!r} that opens a question; it may have ended or been taken back."""


class BadAnswerLink(NotFound):
    """The link opens nothing: it has ended or was taken back. The question itself may still be open on the page."""


class NoSuchHook(NotFound):
    """There is no such hook; it may have been revoked."""


class BadSignature(Unidentified):
    """The signature is not right: {why}."""


class Untold(Unavailable):
    """Not everybody was told: {why}."""

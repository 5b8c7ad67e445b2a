"""Rows of webhooks as acts have them."""

from msgspec import Struct


class WebhookRow(Struct):
    """A webhook as stored: secrets, kinds and agents are JSON, and so is, of a notify address, how it is told (`notify`)."""

    name: str
    id: str
    url: str
    secrets: str
    kinds: str
    agents: str
    shape: str
    bodies: int
    state: str
    since: int
    error: str | None
    place: str
    counted: int
    created_at: int
    delivered_at: int | None
    notify: str | None = None

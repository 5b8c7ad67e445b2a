"""Webhooks are added, paused, resumed, given another secret, and removed."""

from typing import TypeVar

import msgspec
from msgspec.structs import astuple

from postoffice.acts.desk import Desk
from postoffice.acts.needs import Needs
from postoffice.acts.upkeep.housekeeping import Housekeeping
from postoffice.acts.webhooks.rows import WebhookRow
from postoffice.core.clock import micros
from postoffice.core.errors import NoSuchWebhook, WebhookTaken
from postoffice.core.webhook import SECRET_OVERLAP, WebhookState

R = TypeVar("R")


class OfWebhook(Housekeeping[R]):
    """It needs one webhook by its name."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.key = f"webhook:{name}"

    def ask(self, needs: Needs) -> None:
        super().ask(needs)
        needs.extra[self.key] = (self.name,)

    def find(self, desk: Desk) -> WebhookRow:
        """The webhook, as this group has left it so far."""
        if not (rows := desk.extra[self.key]):
            raise NoSuchWebhook(name=self.name)
        return WebhookRow(*rows[0])

    def keep(self, desk: Desk, row: WebhookRow) -> None:
        """It is so from now on."""
        desk.extra[self.key] = [astuple(row)]
        desk.write("put_webhook", astuple(row), row.name)


class AddWebhook(OfWebhook[None]):
    """There is a webhook more."""

    def __init__(self, row: WebhookRow) -> None:
        super().__init__(row.name)
        self.row = row

    def run(self, desk: Desk) -> None:
        if desk.extra[self.key]:
            raise WebhookTaken(name=self.name)
        desk.room.take(len(self.row.url))
        self.row.since = self.row.created_at = desk.now
        self.keep(desk, self.row)


class RemoveWebhook(OfWebhook[None]):
    """It is gone, and what was on its way to it."""

    def run(self, desk: Desk) -> None:
        row = self.find(desk)
        desk.extra[self.key] = []
        desk.writes.get("put_webhook", {}).pop(self.name, None)
        desk.write("delete_webhook", (self.name,), self.name)
        desk.write("delete_webhook_posts", (row.id,), row.id)


class PauseWebhook(OfWebhook[None]):
    """Nothing goes out until it is resumed; what happens meanwhile waits."""

    def run(self, desk: Desk) -> None:
        row = self.find(desk)
        row.state, row.since = WebhookState.PAUSED, desk.now
        self.keep(desk, row)


class ResumeWebhook(OfWebhook[None]):
    """It is tried again from now on, with all that was given up."""

    def run(self, desk: Desk) -> None:
        row = self.find(desk)
        row.state, row.since, row.error = WebhookState.ACTIVE, desk.now, None
        self.keep(desk, row)
        desk.write("resume_webhook_posts", (row.id, desk.now), row.id)


class RotateSecret(OfWebhook[None]):
    """It signs with a new secret, and for a day with the old one too."""

    def __init__(self, name: str, secret: str) -> None:
        super().__init__(name)
        self.secret = secret

    def run(self, desk: Desk) -> None:
        row = self.find(desk)
        (old, _), *_ = msgspec.json.decode(row.secrets)
        kept = [(self.secret, None), (old, desk.now + micros(SECRET_OVERLAP))]
        row.secrets = msgspec.json.encode(kept).decode()
        self.keep(desk, row)

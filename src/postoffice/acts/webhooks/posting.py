"""Events go out by a webhook: they are taken from the log, and what became of each attempt is kept."""

from postoffice.acts.desk import Desk
from postoffice.acts.needs import Needs
from postoffice.acts.webhooks.keeping import OfWebhook
from postoffice.acts.webhooks.rows import WebhookRow
from postoffice.core.clock import micros
from postoffice.core.event import Kind
from postoffice.core.names import OWNER
from postoffice.core.webhook import GIVEN_UP_AFTER, Tried, WebhookState, pause_after

Queue = str
_WAITING, _FAILED = "waiting", "failed"


class TakeEvents(OfWebhook[bool]):
    """The next of the log is on its way. Not where another process has taken it already, or nothing goes out."""

    def __init__(self, webhook: WebhookRow, place: str, posts: tuple[tuple[Queue, str], ...]) -> None:
        super().__init__(webhook.name)
        self.webhook = webhook
        self.place = place
        self.posts = posts

    def run(self, desk: Desk) -> bool:
        row = self.find(desk)
        if (row.id, row.place, row.state) != (self.webhook.id, self.webhook.place, WebhookState.ACTIVE):
            return False
        desk.room.take(sum(len(body) for _, body in self.posts))
        for queue, body in self.posts:
            row.counted += 1
            desk.write("add_webhook_post", (row.id, row.counted, desk.clock.new_id(), queue, body, _WAITING, 0, desk.now, desk.now))
        row.place = self.place
        self.keep(desk, row)
        return True


class SettlePosts(OfWebhook[None]):
    """What became of some attempts.

    An event that nobody took for three days ends its webhook; if others were taken meanwhile, only itself.
    """

    def __init__(self, webhook: WebhookRow, tried: tuple[Tried, ...]) -> None:
        super().__init__(webhook.name)
        self.webhook = webhook
        self.tried = tried

    def ask(self, needs: Needs) -> None:
        super().ask(needs)
        needs.boxes.add(OWNER)
        for one in self.tried:
            needs.extra[self._post(one)] = (self.webhook.id, one.number)

    def run(self, desk: Desk) -> None:
        row = self.find(desk)
        if row.id != self.webhook.id:
            return  # removed, and another has its name
        if any(one.error is None and not one.lapsed for one in self.tried):
            row.delivered_at, row.error = desk.now, None
        for one in self.tried:
            for begun_at, state in desk.extra[self._post(one)]:
                if state == _WAITING:
                    self._settle(desk, row, one, begun_at)
        self.keep(desk, row)

    def _settle(self, desk: Desk, row: WebhookRow, one: Tried, begun_at: int) -> None:
        if one.error is None:
            desk.write("delete_webhook_post", (row.id, one.number), (row.id, one.number))
            return
        state, row.error = _WAITING, one.error
        if one.gone:
            _end(desk, row, WebhookState.GONE)
        elif desk.now - begun_at >= micros(GIVEN_UP_AFTER):
            if row.delivered_at is not None and row.delivered_at > begun_at:
                state = _FAILED
            elif row.state == WebhookState.ACTIVE:
                _end(desk, row, WebhookState.DEAD)
        due_at = desk.now + micros(pause_after(one.attempts, one.wait))
        desk.write("update_webhook_post", (row.id, one.number, state, one.attempts, due_at, one.error), (row.id, one.number))

    def _post(self, one: Tried) -> str:
        return f"webhook_post:{self.webhook.id}:{one.number}"


def _end(desk: Desk, row: WebhookRow, state: WebhookState) -> None:
    """It is told nothing more, and its owner hears of that."""
    if row.state == WebhookState.ACTIVE and (owner := desk.boxes.get(OWNER)) is not None:
        desk.tell(owner, Kind.STUCK, row.name, {"what": "webhook"})
    row.state, row.since = state, desk.now

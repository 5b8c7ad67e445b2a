"""Webhooks: the owner's verbs about them, and what their bridge needs."""

import secrets
from collections.abc import Sequence
from datetime import timedelta

import msgspec

from postoffice.acts.webhooks.keeping import AddWebhook, PauseWebhook, RemoveWebhook, ResumeWebhook, RotateSecret
from postoffice.acts.webhooks.posting import SettlePosts, TakeEvents
from postoffice.acts.webhooks.rows import WebhookRow
from postoffice.core.agent import Caller
from postoffice.core.clock import Clock, is_id
from postoffice.core.errors import NoSuchWebhook, OwnerOnly
from postoffice.core.event import Event, Kind, beyond
from postoffice.core.names import check_name, folded
from postoffice.core.webhook import Outgoing, Shape, Tried, Webhook, WebhookState, check_url, check_webhook_name, new_secret, told
from postoffice.office.bells import Bells
from postoffice.office.notify import NotifyAddresses
from postoffice.store.reads.webhooks import session_of
from postoffice.store.store import Store
from postoffice.wake.protocol import EVERYBODY

Target = WebhookRow
"""A webhook as its bridge knows it."""
Posts = tuple[tuple[str, str], ...]
"""What is to go out, each with the line it goes in."""
_SECRET_BYTES = 32
_EVENTS_AT_ONCE = 200


class Webhooks:
    """All of them are the owner's."""

    def __init__(self, store: Store, bells: Bells, clock: Clock, notify: NotifyAddresses) -> None:
        self._store = store
        self._bells = bells
        self._clock = clock
        self._notify = notify

    async def add(
        self,
        caller: Caller,
        name: str,
        url: str,
        *,
        events: Sequence[Kind] = (),
        agents: Sequence[str] = (),
        bodies: bool = False,
        shape: Shape = Shape.STANDARD,
    ) -> tuple[Webhook, str]:
        """Tell an address of what happens from now on. Also gives the secret that signs, which is not shown again."""
        _owner(caller)
        secret = new_secret(secrets.token_bytes(_SECRET_BYTES))
        row = WebhookRow(
            name=check_webhook_name(name),
            id=self._clock.new_id(),
            url=check_url(url),
            secrets=_json([(secret, None)]),
            kinds=_json(sorted(set(events))),
            agents=_json(sorted({folded(check_name(agent)) for agent in agents})),
            shape=shape,
            bodies=int(bodies),
            state=WebhookState.ACTIVE,
            since=0,
            error=None,
            place=await self._store.log.last(),
            counted=0,
            created_at=0,
            delivered_at=None,
        )
        await self._store.do(AddWebhook(row))
        return await self.get(caller, name), secret

    async def all(self, caller: Caller) -> tuple[Webhook, ...]:
        """Every webhook, and how it does."""
        _owner(caller)
        return await self._store.webhooks.page()

    async def get(self, caller: Caller, name: str) -> Webhook:
        """One webhook."""
        _owner(caller)
        for webhook in await self._store.webhooks.page(check_webhook_name(name)):
            return webhook
        raise NoSuchWebhook(name=name)

    async def remove(self, caller: Caller, name: str) -> None:
        """Tell it nothing more, not even what is on its way."""
        await self.get(caller, name)
        await self._store.do(RemoveWebhook(name))

    async def pause(self, caller: Caller, name: str) -> Webhook:
        """Tell it nothing until it is resumed, and then everything."""
        await self.get(caller, name)
        await self._store.do(PauseWebhook(name))
        return await self.get(caller, name)

    async def resume(self, caller: Caller, name: str) -> Webhook:
        """Try it again, with all that it has not been told."""
        await self.get(caller, name)
        await self._store.do(ResumeWebhook(name))
        return await self.get(caller, name)

    async def rotate(self, caller: Caller, name: str) -> tuple[Webhook, str]:
        """Sign with a new secret, which is given; for a day the old one signs too."""
        await self.get(caller, name)
        secret = new_secret(secrets.token_bytes(_SECRET_BYTES))
        await self._store.do(RotateSecret(name, secret))
        return await self.get(caller, name), secret

    # For the bridge

    async def hold(self, holder: str, lasts: timedelta) -> bool:
        """Be the one process that tells, for a while."""
        return await self._store.hold("webhooks", holder, lasts)

    async def stirred(self, within: float) -> None:
        """Something happened, or so many seconds are over."""
        with self._bells.waiting(EVERYBODY) as bell:
            await bell.rings(within)

    async def active(self) -> tuple[Target, ...]:
        """Those that are told of events."""
        return await self._store.webhooks.active()

    async def take(self, webhook: Target) -> bool:
        """Queue the next events of the log for it, and move its place in the log on. True if there may be more."""
        events = await self._store.log.page(webhook.place, _EVENTS_AT_ONCE)
        if not events:
            last = await self._store.log.last()
            if beyond(webhook.place, last):  # a backup took the log's place, and what it holds was told before
                await self._store.do(TakeEvents(webhook, last, ()))
            return False
        if webhook.notify is not None:
            posts = await self._notify.noted(webhook, events)
        else:
            posts = await self._chosen(webhook, events)
        place = events[-1].cursor
        if not await self._store.do(TakeEvents(webhook, place, posts)):
            return False
        webhook.place = place
        return len(events) == _EVENTS_AT_ONCE

    async def _chosen(self, webhook: Target, events: list[Event]) -> Posts:
        """Each event that it asked for, with the queue it goes in."""
        kinds, agents = set(msgspec.json.decode(webhook.kinds)), set(msgspec.json.decode(webhook.agents))
        chosen = [one for one in events if (not kinds or one.kind in kinds) and (not agents or one.agent in agents)]
        chosen = [one for one in chosen if one.kind is not Kind.STUCK or one.ref != webhook.name]  # its own end is no news to it
        if not chosen:
            return ()
        messages, sessions = await self._store.webhooks.behind([one for one in chosen if is_id(one.ref)])
        bodies = []
        for one in chosen:
            session = session_of(one, sessions)
            body = told(one, Shape(webhook.shape), messages.get(one.ref), session, bodies=bool(webhook.bodies))
            bodies.append((session or one.agent, body))
        return tuple(bodies)

    async def due(self, webhook: Target, limit: int) -> tuple[Outgoing, ...]:
        """What is to be sent now: the first of each queue only."""
        return await self._store.webhooks.due(webhook.id, limit)

    async def settle(self, webhook: Target, tried: tuple[Tried, ...]) -> None:
        """What became of some attempts."""
        await self._store.do(SettlePosts(webhook, tried))

    def secrets(self, webhook: Target) -> list[str]:
        """Those that sign now, the newest first."""
        now = self._clock.now()
        return [secret for secret, until in msgspec.json.decode(webhook.secrets) if until is None or until > now]


def _owner(caller: Caller) -> None:
    if not caller.owner:
        raise OwnerOnly(what="keep webhooks")


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()

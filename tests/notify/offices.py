"""Offices that tell notify addresses on this machine."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from ipaddress import ip_network

from postoffice.bridges.notify import Messenger
from postoffice.bridges.webhooks import WebhookBridge
from postoffice.core.agent import Caller
from postoffice.core.limits import Limits
from postoffice.core.notify import Notify
from postoffice.core.question import Ask
from postoffice.office import OfficeRules, PostOffice
from postoffice.wake.local import LocalWake
from tests.engines import Engine
from tests.mail import write

LOOPBACK = (ip_network("127.0.0.0/8"),)
PUBLIC = "https://mail.example.com"


@asynccontextmanager
async def opened(engine: Engine, **rules: object) -> AsyncIterator[PostOffice]:
    limits = Limits(notify_pause=rules.pop("pause", timedelta(0)))  # type: ignore[arg-type]
    house = OfficeRules(limits=limits, tick=0.05, **({"public_url": PUBLIC} | rules))  # type: ignore[arg-type]
    async with PostOffice(engine.store(), LocalWake(), house) as office:
        office.notify.carried_by(Messenger(LOOPBACK).carry)
        yield office


def telling(office: PostOffice) -> WebhookBridge:
    return WebhookBridge(office, LOOPBACK, pause=0.01)


async def settled(office: PostOffice, name: str = "phone") -> Notify:
    """The address, once nothing waits to be told there."""
    async with asyncio.timeout(60):
        while (found := await office.notify.get(office.owner(), name)).waiting:  # noqa: ASYNC110 - the bridge changes it
            await asyncio.sleep(0.02)
    return found


async def asks(office: PostOffice, who: Caller, subject: str = "Release", **ask: object) -> str:
    sent = await write(office, who, "owner", "the launch code is 1234", subject=subject, ask=Ask(choices=("ship it", "wait"), **ask))  # type: ignore[arg-type]
    return sent.message_id

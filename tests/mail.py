"""Short words for what most tests do: people, letters, and an office with rules of its own."""

from typing import Any

import msgspec

from postoffice.core.agent import Caller, Card
from postoffice.core.connection import Handshake
from postoffice.core.delivery import Leased, Standing
from postoffice.core.draft import Draft
from postoffice.core.limits import Limits
from postoffice.core.message import NOTICE, Accepted, Message, TaskRef
from postoffice.core.seal import Seal
from postoffice.core.views import Page
from postoffice.core.window import Opened
from postoffice.office import Auth, OfficeRules, PostOffice
from postoffice.wake.local import LocalWake
from tests.engines import Engine


def office_with(engine: Engine, *, auth: Auth = Auth.OPEN, handshake: Handshake = Handshake.VISIBLE, **limits: Any) -> PostOffice:
    """An office over the engine whose limits differ from the defaults; not yet open."""
    rules = Limits(**limits)
    return PostOffice(
        engine.store(rules, Seal(b"beside the data") if handshake is Handshake.HUMAN else None),
        LocalWake(),
        OfficeRules(auth=auth, handshake=handshake, limits=rules, tick=3600),
    )


async def person(office: PostOffice, name: str) -> Caller:
    """An agent that simply appears."""
    return await office.identify(name=name)


async def people(office: PostOffice, *names: str) -> list[Caller]:
    return [await person(office, name) for name in names]


async def member(office: PostOffice, name: str, *allow_from: str) -> Caller:
    """An agent that registered, with a key and its own list of whom it takes mail from."""
    _, _, key = await office.register(name, Card(allow_from=allow_from))
    return await office.identify(key=key)


async def write(office: PostOffice, sender: Caller, to: str | tuple[str, ...], content: str = "hello", **fields: Any) -> Accepted:
    return await office.send(sender, Draft(to=to, content=content, **fields))


async def ask(office: PostOffice, requester: Caller, assignee: str, task: TaskRef | None = None, **fields: Any) -> Accepted:
    """Ask for work."""
    return await write(office, requester, assignee, "do it", type="task", task=task, **fields)


async def take(office: PostOffice, caller: Caller, **wish: Any) -> Leased:
    """The next message in the mailbox, leased."""
    (leased,) = (await office.receive(caller, 1, **wish)).leased
    return leased


def at(caller: Caller, opened: Opened) -> Caller:
    """A caller in its window."""
    return msgspec.structs.replace(caller, window=opened.id)


async def taken(office: PostOffice, caller: Caller, limit: int = 100, **wish: Any) -> list[str | None]:
    """What the leased messages say, in order."""
    return [leased.message.content for leased in (await office.receive(caller, limit, **wish)).leased]


async def standing(office: PostOffice, caller: Caller, ref: str) -> Standing:
    """Where a message to one agent stands."""
    (only,) = (await office.status(caller, ref)).standings
    return only


async def notices(office: PostOffice, caller: Caller) -> list[Message]:
    """What the office itself wrote to the agent and still waits."""
    return [message for message in (await office.waiting(caller)).items if message.type == NOTICE]


async def kill(office: PostOffice, caller: Caller, reason: str | None = None) -> Leased:
    """Fail the next message until it is dead."""
    while True:
        leased = await take(office, caller)
        await office.nack(caller, leased.message.id, leased.token, reason=reason)
        if leased.attempt >= office.rules.limits.max_attempts:
            return leased


async def pages(verb: Any, *arguments: Any, limit: int, **options: Any) -> list[list[Any]]:
    """Every page of a list, followed by its cursor."""
    found: list[list[Any]] = []
    cursor = None
    while True:
        page: Page[Any] = await verb(*arguments, cursor=cursor, limit=limit, **options)
        found.append(list(page.items))
        cursor = page.cursor
        if cursor is None:
            return found

"""What this agent sends itself: a new task or message, or a mail it passes on while working for another agent."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from postoffice_files import Busy, FileMailError, LoopRefused, Settings
from postoffice_files.clock import SECOND
from postoffice_files.names import check_recipient, folded
from postoffice_nanobot.answer import Answer
from postoffice_nanobot.box import Box
from postoffice_nanobot.delegation import Delegation
from postoffice_nanobot.errand import Errand
from postoffice_nanobot.place import Place

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Order:
    """What the model wants to send."""

    to: str
    answer: Answer
    kind: str = "task"
    deadline: str | None = None


@dataclass(frozen=True, slots=True)
class Origin:
    """The conversation in which the model decided that, and the mail this conversation is about."""

    place: Place
    cause: str | None = None


class Nobody(FileMailError):
    """Nobody called {name!r} is in the registry of agents."""


class Outbox:
    """Sends orders. It knows the errands in hand, and so whether an order is new or passes a mail on."""

    def __init__(self, box: Box, errands: Mapping[str, Errand], told: Mapping[str, Delegation]) -> None:
        self._box = box
        self._errands = errands
        self._told = told

    async def send(self, order: Order, origin: Origin) -> str | None:
        """Send, and return the message's id; None if it became part of the errand in hand. Raises FileMailError."""
        to = check_recipient(order.to)
        errand = self._errands.get(origin.cause or "")
        if errand is not None and order.kind == "message" and folded(to) == folded(errand.mail["from"]):
            await errand.reports.progress(order.answer.text)
            return None
        if folded(to) == folded(self._box.agent):
            raise LoopRefused(to=to, why="that is this agent itself; do it yourself")
        if not await self._box.knows(to):
            raise Nobody(name=to)
        delegation = self._delegation(to, order, origin, errand)
        if errand is not None and delegation.parent is not None:
            errand.delegated(delegation.id)
        try:
            await self.post(delegation)
        except (FileMailError, OSError):
            await self._box.close(delegation)
            if errand is not None:
                errand.withdrawn(delegation.id)
            raise
        return delegation.id

    async def post_again(self) -> None:
        """Send what an earlier process wrote down but did not send. Errors that pass are raised, and it stays written down."""
        for delegation in await self._box.delegations():
            if not delegation.sent:
                try:
                    await self.post(delegation)
                except Busy:
                    raise
                except FileMailError as error:
                    await self._box.close(delegation)
                    _LOG.warning("the delegation to %s was not sent: %s", delegation.to, error)

    async def post(self, delegation: Delegation) -> None:
        """Write it down, send it, and write down that it was sent. After a kill, the next process goes on from there."""
        await self._box.keep(delegation)
        await self._box.post(delegation.to, delegation.message, at=delegation.at, key=delegation.id, forward_of=delegation.forward_of)
        await self._box.keep(replace(delegation, sent=True))

    def _delegation(self, to: str, order: Order, origin: Origin, errand: Errand | None) -> Delegation:
        now, ttl, passed_on = self._box.now(), self._hops(to, origin), None if errand is None else errand.mail["filename"]
        id = f"msg_{now // SECOND}_{self._box.agent}_{self._box.token()}"
        message: dict[str, Any] = {
            "id": id,
            "correlation_id": id,  # agents of other software mark their answer with this
            "type": order.kind,
            "ttl": ttl,
            "content": {"parts": order.answer.parts()},
            "callback": {"session_id": origin.place.session_id, "channel": origin.place.channel},
        }
        if order.kind == "task":
            message["task"] = {"id": id, "state": "pending"} | ({"deadline": order.deadline} if order.deadline else {})
        return Delegation(
            id=id,
            to=to,
            place=origin.place,
            message=message,
            at=now,
            forward_of=passed_on,
            parent=passed_on if order.kind == "task" else None,
            ttl=ttl,
        )

    def _hops(self, to: str, origin: Origin) -> int:
        """The remaining hops. Chains of delegations are limited like forwards, or two agents could go on for ever."""
        before = self._told.get(origin.cause or "")
        if before is None:
            return Settings().ttl
        if before.ttl <= 0:
            raise LoopRefused(to=to, why="too many delegations have led to each other; handle it yourself")
        return before.ttl - 1

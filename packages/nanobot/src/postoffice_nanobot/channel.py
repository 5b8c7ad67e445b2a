"""`MailboxChannel`: the file mailbox as a channel of nanobot."""

import asyncio
import logging
from collections.abc import Mapping
from typing import Any

from nanobot.bus.events import InboundMessage, OutboundMessage
from nanobot.channels.base import BaseChannel
from nanobot.utils.logging_bridge import redirect_lib_logging

from postoffice_files import FileMailError
from postoffice_nanobot.answer import Answer
from postoffice_nanobot.box import Box
from postoffice_nanobot.config import MailboxConfig, read_config
from postoffice_nanobot.desk import Desk
from postoffice_nanobot.host import TurnFailed
from postoffice_nanobot.marks import CAUSE, marks
from postoffice_nanobot.meeting import meeting
from postoffice_nanobot.origin import Noted, is_speech, note_origins, noted_on
from postoffice_nanobot.outbox import Order, Origin
from postoffice_nanobot.place import CHANNEL, Place
from postoffice_nanobot.prompts import unsent_prompt
from postoffice_nanobot.turns import Turns

_LOG = logging.getLogger(__name__)
_END = "mailbox_end"
"""Marks a message from the channel to itself, which comes after everything a turn has said."""


class MailboxChannel(BaseChannel):
    """Makes other agents' mail into turns of the model, and what the model sends into mail."""

    name = CHANNEL
    display_name = "Mailbox"

    def __init__(self, config: Mapping[str, Any] | MailboxConfig, bus: Any) -> None:
        read = read_config(config)
        super().__init__(read, bus)
        here = meeting(bus)
        here.channel = self
        self.box = Box(read)
        self.desk = Desk(read, self.box, self)
        self._turns = Turns(bus, here)
        self._said: dict[str, list[Answer]] = {}
        self._ends: dict[str, asyncio.Future[None]] = {}
        self._expected: dict[str, list[asyncio.Future[None]]] = {}
        self._unsent: set[asyncio.Task[None]] = set()
        note_origins(bus)

    @classmethod
    def default_config(cls) -> dict[str, Any]:
        """The section that nanobot writes by default."""
        return MailboxConfig().model_dump(by_alias=True)

    def progress_transport_defaults(self) -> tuple[bool, bool]:
        """Send neither progress nor tool hints: another agent wants only the answer."""
        return False, False

    async def start(self) -> None:
        """Handle mail for as long as this runs."""
        redirect_lib_logging("postoffice_nanobot")
        logging.getLogger("postoffice_nanobot").setLevel(logging.INFO)
        self._turns.follow()
        self._running = True
        try:
            await self.desk.run()
        finally:
            self._running = False
            self._turns.unfollow()

    async def stop(self) -> None:
        """Stop handling mail; the agent is offline from here on."""
        await self.desk.leave()

    async def send(self, msg: Any) -> None:
        """Use what a turn has said as the answer to its mail, or send what the model wants sent."""
        metadata = msg.metadata or {}
        if not is_speech(msg):
            return
        noted, answer = noted_on(msg), Answer(msg.content, tuple(msg.media or ()))
        try:
            if _END in metadata:
                self._end(metadata[_END])
            elif metadata.get(CAUSE) in self._said:
                self._said[metadata[CAUSE]].append(answer)
            elif noted is not None:
                await self._order(Order(msg.chat_id, answer), noted.origin)
            else:
                _LOG.info("nothing is sent to %s: only answers to mail and messages from tools become mail", msg.chat_id)
        finally:
            if noted is not None:
                noted.take()

    def expect(self, noted: Noted) -> None:
        """Note that a tool has sent something: its turn is not over until the channel has taken it."""
        if noted.origin.cause in self._said:
            self._expected.setdefault(noted.origin.cause, []).append(noted.taken)

    def allows(self, sender: str) -> bool:
        """Ask nanobot whether a sender may talk to it."""
        return bool(self.is_allowed(sender))

    async def ask(self, place: Place, text: str, cause: str) -> Answer:
        """Run a turn in the conversation with another agent."""
        self._said[cause] = []
        try:
            ended = await self._turns.take(place.session_id, lambda: self._hear(place, text, cause))
            await self._all_said(place, cause)
            words = self._said[cause]
        finally:
            del self._said[cause]
            self._expected.pop(cause, None)
        answer = Answer("\n\n".join(part.text for part in words if part.text), tuple(path for part in words for path in part.files))
        if ended.failure is not None:
            raise TurnFailed(f"{ended.failure}: {answer.text}" if answer.text else ended.failure)
        if not words:
            why = "the turn ended without an answer"
            raise TurnFailed(why)
        return answer

    async def tell(self, place: Place, text: str, cause: str) -> None:
        """Run a turn in the conversation that asked, as nanobot does when background work is done."""
        more = {"input_role": "user"} if hasattr(InboundMessage, "input_role") else {}
        message = InboundMessage(
            channel="system",
            sender_id=CHANNEL,
            chat_id=f"{place.channel}:{place.chat_id}",
            content=text,
            metadata=marks(cause, self.desk.mail(cause)),
            session_key_override=place.session_id,
            **more,
        )
        ended = await self._turns.take(place.session_id, lambda: self.bus.publish_inbound(message))
        if ended.failure is not None:
            raise TurnFailed(ended.failure)

    async def show(self, place: Place, text: str) -> None:
        """Show another agent's words to the person."""
        await self.bus.publish_outbound(OutboundMessage(channel=place.channel, chat_id=place.chat_id, content=text))

    async def _hear(self, place: Place, text: str, cause: str) -> None:
        await self._handle_message(
            sender_id=place.chat_id,
            chat_id=place.chat_id,
            content=text,
            metadata=marks(cause, self.desk.mail(cause)),
            session_key=place.session_id,
        )

    async def _order(self, order: Order, origin: Origin) -> None:
        try:
            await self.desk.send(order, origin)
        except FileMailError as error:
            # The tool has already said that it was sent, so the model must hear that it was not.
            text = unsent_prompt(order.to, str(error))
            if not self.desk.hear(origin, text):
                self._unsent.add(task := asyncio.create_task(self.tell(origin.place, text, "")))
                task.add_done_callback(self._unsent.discard)

    async def _all_said(self, place: Place, cause: str) -> None:
        """Wait until everything that a turn said has come through the bus."""
        self._ends[cause] = asyncio.get_running_loop().create_future()
        try:
            await self.bus.publish_outbound(OutboundMessage(channel=CHANNEL, chat_id=place.chat_id, content="", metadata={_END: cause}))
            # Nanobot 0.3 keeps the order within one chat only, so wait for other chats separately.
            await asyncio.gather(self._ends[cause], *self._expected.get(cause, ()))
        finally:
            del self._ends[cause]

    def _end(self, cause: str) -> None:
        if cause in self._ends and not self._ends[cause].done():
            self._ends[cause].set_result(None)

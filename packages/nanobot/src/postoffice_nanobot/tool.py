"""The tool `mailbox` for nanobot's model: lists other agents and asks them for something."""

from typing import Any

from nanobot.agent.tools.base import Tool
from nanobot.config.loader import load_config

from postoffice_files import FileMailError
from postoffice_nanobot.answer import Answer
from postoffice_nanobot.fence import fenced, one_line
from postoffice_nanobot.meeting import Meeting, meeting
from postoffice_nanobot.origin import current_origin
from postoffice_nanobot.outbox import Order


class MailboxTool(Tool):
    """The tool. A message is on disk when it answers, and one that cannot be sent is refused at once."""

    def __init__(self, here: Meeting) -> None:
        self._here = here

    @classmethod
    def enabled(cls, ctx: Any) -> bool:
        """Whether this nanobot has a mailbox."""
        section = getattr(load_config().channels, "mailbox", None)
        return ctx.bus is not None and isinstance(section, dict) and section.get("enabled") is True

    @classmethod
    def create(cls, ctx: Any) -> "MailboxTool":
        """Create the tool, with the agent loop and before the channel."""
        here = meeting(ctx.bus)
        here.events, here.sessions = getattr(ctx, "runtime_events", None), ctx.sessions
        return cls(here)

    @property
    def name(self) -> str:
        """The tool's name."""
        return "mailbox"

    @property
    def description(self) -> str:
        """The tool's description."""
        return (
            "Other agents that can be reached by mail. 'agents' lists those online and what they can do. 'task' asks one of them to do "
            "something: its result comes into this conversation later, by itself. 'message' tells or asks one something; an answer, if "
            "there is one, comes into this conversation as well."
        )

    @property
    def parameters(self) -> dict[str, Any]:
        """The tool's parameters."""
        return {
            "type": "object",
            "properties": {
                "action": {"type": "string", "enum": ["agents", "task", "message"]},
                "to": {"type": "string", "description": "The agent's name. For task and message."},
                "text": {"type": "string", "description": "All that the other agent has to know. For task and message."},
                "deadline": {"type": "string", "description": "When the task has to be done by, such as 2026-04-26T11:00:00Z. Optional."},
            },
            "required": ["action"],
        }

    async def execute(self, action: str, to: str = "", text: str = "", deadline: str | None = None, **_: Any) -> str:
        """Run the tool."""
        channel, origin = self._here.channel, current_origin()
        if channel is None or not channel.is_running or origin is None:
            return "Error: the mailbox is not running."
        try:
            if action == "agents":
                return _listed(await channel.box.agents())
            if not to or not text:
                return "Error: to and text are needed."
            id = await channel.desk.send(Order(to, Answer(text), action, deadline), origin)
        except (FileMailError, OSError) as error:
            return f"Error: {error}"
        return f"Sent to {to}, id {id}. The result will come into this conversation." if id else f"Sent to {to}."


def _listed(cards: list[dict[str, Any]]) -> str:
    if not cards:
        return "No other agent is online."
    lines = []
    for card in cards:
        tasks = card.get("current_tasks") or []
        lines.append(f"{one_line(str(card['agent_id']))}: {card['status']}, {len(tasks)} of {card.get('max_concurrent_tasks')} tasks.")
        about = "\n".join(filter(None, [str(card.get("description") or ""), ", ".join(map(str, card.get("capabilities") or []))]))
        if about:
            lines.append(fenced(f"words of {card['agent_id']}", about))
    return "\n".join(lines)

"""Checks that an agent reaches its mailbox at the address that was written."""

from typing import Any

from postoffice.client.wire import Wire
from postoffice.core.errors import MailError, NoAnswer, Unidentified
from postoffice.core.tools import toolset
from postoffice.setup.endpoint import Endpoint

_LOOK = "mailbox_check"
"""A tool that neither takes mail nor changes anything."""


async def reached(to: Endpoint) -> tuple[bool, list[str]]:
    """Whether everything works, and sentences that say what does and what does not."""
    sentences: list[str] = []
    try:
        async with Wire(to.server, key=to.key, agent=to.agent) as wire:
            version: dict[str, Any] = await wire.get("/version")
            sentences.append(f"The office answers at {to.server} (postoffice {version['version']}, {version['auth']}).")
            if not to.named:
                return True, [*sentences, "Each window gets a name of its own, by its folder."]
            inbox = await wire.post(f"/mail/{to.agent}", {"tool": _LOOK}, tools=_LOOK)
            unread = sum(session["unread_count"] for session in inbox["sessions"])
    except MailError as error:
        return False, [*sentences, str(error), *_remedy(to, error)]
    except (LookupError, TypeError):  # what answers there is not an office
        return False, [*sentences, str(NoAnswer(server=to.server))]
    sentences.append(f"{to.agent}'s mailbox opens: {unread} unread. Tools: {', '.join(toolset(to.toolset))}.")
    return True, sentences


def _remedy(to: Endpoint, error: MailError) -> list[str]:
    if not isinstance(error, Unidentified):
        return []
    if to.key is None:
        return [f"Run `postoffice register {to.agent}`, or `postoffice login` if it has a key, and this command again."]
    return [f"The key kept here for {to.agent} is no longer valid: run `postoffice login`, and this command again."]

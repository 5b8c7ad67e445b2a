"""Work: how an agent says what it is up to."""

from typing import Annotated

from msgspec import Meta

from postoffice.core.tools.tool import Arguments, Me, Tool, says

_MOST_MINUTES = 366 * 24 * 60


class Pause(Arguments, frozen=True, kw_only=True):
    """What `mail_pause` takes."""

    minutes: Annotated[float, Meta(gt=0, le=_MOST_MINUTES), says("Goes on by itself then.")] | None = None
    reason: Annotated[str, says("Why.")] | None = None
    resume: Annotated[bool, says("Ends the pause.")] = False
    agent_id: Me | None = None


PAUSE = Tool(
    name="mail_pause",
    title="Pause mail",
    arguments=Pause,
    description="Holds your new mail, as until your limit resets; senders are told until when.",
    brief=True,
)

TOOLS = (PAUSE,)

"""Work: how an agent says what it is up to."""

from typing import Annotated

from msgspec import Meta

from postoffice.core.tools.tool import Arguments, Me, Tool, says

_MOST_MINUTES = 366 * 24 * 60
_MOST_RESERVED_MINUTES = 12 * 60
Paths = Annotated[tuple[str, ...], says("Globs from the project's folder on.")]
Project = Annotated[str, says("Its folder, if not yours.")]


class Pause(Arguments, frozen=True, kw_only=True):
    """What `mail_pause` takes."""

    minutes: Annotated[float, Meta(gt=0, le=_MOST_MINUTES), says("Goes on by itself then.")] | None = None
    reason: Annotated[str, says("Why.")] | None = None
    resume: Annotated[bool, says("Ends the pause.")] = False
    agent_id: Me | None = None


class Reserve(Arguments, frozen=True, kw_only=True):
    """What `mail_reserve` takes."""

    paths: Paths
    why: Annotated[str, says("What you do there.")]
    minutes: Annotated[float, Meta(gt=0, le=_MOST_RESERVED_MINUTES), says("At most 720.")] = 60
    shared: Annotated[bool, says("With others who share.")] = False
    tell: Annotated[bool, says("If refused: a letter once free.")] = False
    project: Project | None = None
    agent_id: Me | None = None


class Release(Arguments, frozen=True, kw_only=True):
    """What `mail_release` takes."""

    paths: Annotated[tuple[str, ...], says("All of yours if none.")] = ()
    project: Project | None = None
    agent_id: Me | None = None


PAUSE = Tool(
    name="mail_pause",
    title="Pause mail",
    arguments=Pause,
    description="Holds your new mail, as until your limit resets; senders are told until when.",
    brief=True,
)
RESERVE = Tool(
    name="mail_reserve",
    title="Reserve files",
    arguments=Reserve,
    description="Reserves files you are about to edit: others' edits of them are refused until you release them or end. A refusal says who has them.",
    repeatable=True,
    brief=True,
)
RELEASE = Tool(
    name="mail_release",
    title="Release files",
    arguments=Release,
    description="Gives up what you reserved.",
    repeatable=True,
    brief=True,
)

TOOLS = (PAUSE, RESERVE, RELEASE)

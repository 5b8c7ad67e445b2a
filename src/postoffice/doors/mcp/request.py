"""One MCP request: the office, who is calling, which tools it sees, and what mail it took."""

import asyncio
from collections.abc import Mapping

from postoffice.core.agent import Caller
from postoffice.core.delivery import Leased
from postoffice.core.errors import NoSuchTool, NotYou, Unidentified
from postoffice.core.names import folded
from postoffice.core.tools import TOOLS
from postoffice.core.tools.tool import Tool
from postoffice.doors.credentials import Credentials
from postoffice.office import Auth, PostOffice

REQUEST = "mcp_request"
"""Where an HTTP request carries it for the SDK."""


class McpRequest:
    """Somebody at the door. On an open server a shared address may not know who until a tool says so."""

    def __init__(
        self, office: PostOffice, credentials: Credentials, tools: Mapping[str, Tool] | None = None, *, structured: bool = False
    ) -> None:
        self.office = office
        self.credentials = credentials
        self.tools = TOOLS if tools is None else tools
        """What this address lists. Every tool can be called everywhere."""
        self.structured = structured
        """Whether a program calls, which takes raw values beside the text. Clients that give such an answer to a model drop the text."""
        self.in_text = not structured
        """Whether a model reads the answer: then it is no longer than a model can read, and calls messages by short ids."""
        self.leased: list[tuple[Caller, Leased]] = []
        """Mail taken for an answer that is still to be given."""
        self.answering = False
        """Whether the tool has done its work: what is written from now on is the answer."""
        self.called_off: asyncio.Future[None] | None = None
        """Done when the caller waits no longer."""
        self.looking = True
        """Whether what is asked only looks for mail: then a name that nobody has had makes no agent."""
        self.window: str | None = None
        """From which window it calls, where it says so."""
        self.project: str | None = None
        """The project in whose folder it works, where it says so."""
        self._caller: Caller | None = None

    async def enter(self) -> None:
        """Check what the address and the headers say before any tool is seen."""
        key, name = self.credentials
        if key is not None or name is not None or self.office.rules.auth is Auth.KEYS:
            self._caller = await self.office.identify(key=key, name=name, looking=self.looking)

    @property
    def name(self) -> str | None:
        """The caller's name, as far as it is known yet."""
        return None if self._caller is None else self._caller.name

    async def caller(self, claimed: str | None = None) -> Caller:
        """Who is calling, and from which window. A name that is not the caller's is refused, never rewritten."""
        return await self.office.at_window(await self._who(claimed), self.window)

    async def _who(self, claimed: str | None) -> Caller:
        key, _ = self.credentials
        if self._caller is None:
            if claimed is None:
                raise Unidentified
            return await self.office.identify(name=claimed, looking=self.looking)
        if self._caller.new and not self.looking:
            await self.enter()
        if claimed is None or folded(claimed) == folded(self._caller.name):
            return self._caller
        if self._caller.owner:
            return await self.office.identify(key=key, name=claimed, looking=self.looking)
        raise NotYou(claimed=claimed, name=self._caller.name)

    async def again(self, claimed: str | None = None) -> Caller:
        """The same caller some time later: a key may have ended since."""
        await self.enter()
        return await self.caller(claimed)

    @property
    def known(self) -> bool:
        """Whether address or key says who calls, so that no argument has to. The owner may call as anybody."""
        return self._caller is not None and not self._caller.owner

    def tool(self, name: str) -> Tool:
        """A tool, whether listed here or not."""
        if name not in TOOLS:
            raise NoSuchTool(name=name, known=", ".join(self.tools))
        return TOOLS[name]

    async def give_back(self, beyond: int = 0) -> None:
        """The answer never arrived, or holds no more: the mail beyond was not taken."""
        leased = self.leased[beyond:]
        for caller in {caller for caller, _ in leased}:
            await self.office.give_back(caller, [item for taker, item in leased if taker == caller])
        self.leased = self.leased[:beyond]  # not before it is back: whoever hangs up meanwhile is no reason to keep it

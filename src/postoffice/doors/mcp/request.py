"""One MCP request: the office, the caller, the tools it sees, and the mail it took."""

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
"""The key under which an HTTP request carries it through the SDK."""


class McpRequest:
    """A request and its caller. At a shared address of an open server, only a tool's arguments may say who that is."""

    def __init__(
        self, office: PostOffice, credentials: Credentials, tools: Mapping[str, Tool] | None = None, *, structured: bool = False
    ) -> None:
        self.office = office
        self.credentials = credentials
        self.tools = TOOLS if tools is None else tools
        """The tools this address lists. Every tool can be called at every address."""
        self.structured = structured
        """Whether the caller is a program, which gets raw values beside the text. If a model gets such values, its client drops the text."""
        self.in_text = not structured
        """Whether a model reads the answer. It is kept short then, and names messages by short ids."""
        self.leased: list[tuple[Caller, Leased]] = []
        """Mail taken for this answer, which has not been sent yet."""
        self.answering = False
        """Whether the tool is done, so that what is written from now on is the answer."""
        self.called_off: asyncio.Future[None] | None = None
        """Done when the caller calls the wait off."""
        self.looking = True
        """Whether the call only looks for mail. An unknown name makes no agent then."""
        self.window: str | None = None
        """The window it calls from, if it says so."""
        self.project: str | None = None
        """The project it works in, if it says so."""
        self._caller: Caller | None = None

    async def enter(self) -> None:
        """Check the address and the headers before any tool runs."""
        key, name = self.credentials
        if key is not None or name is not None or self.office.rules.auth is Auth.KEYS:
            self._caller = await self.office.identify(key=key, name=name, looking=self.looking)

    @property
    def name(self) -> str | None:
        """The caller's name, if it is known yet."""
        return None if self._caller is None else self._caller.name

    async def caller(self, claimed: str | None = None) -> Caller:
        """The caller and its window. A name that is not the caller's is refused, never rewritten."""
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
        """Identify the same caller again later, as its key may have ended."""
        await self.enter()
        return await self.caller(claimed)

    @property
    def known(self) -> bool:
        """Whether the address or key names the caller, so that no argument has to. The owner may call as anybody."""
        return self._caller is not None and not self._caller.owner

    def tool(self, name: str) -> Tool:
        """A tool by name, whether this address lists it or not."""
        if name not in TOOLS:
            raise NoSuchTool(name=name, known=", ".join(self.tools))
        return TOOLS[name]

    async def give_back(self, beyond: int = 0) -> int:
        """Give back leased mail, from this position on: the answer did not arrive, or has no room for it. Returns how much it was."""
        leased = self.leased[beyond:]
        for caller in {caller for caller, _ in leased}:
            await self.office.give_back(caller, [item for taker, item in leased if taker == caller])
        self.leased = self.leased[:beyond]  # only after it is back, so that a hang-up meanwhile cannot lose it
        return len(leased)

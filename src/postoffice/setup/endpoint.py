"""What a client is pointed at: one agent's address at one office, and what proves the agent there."""

from urllib.parse import urlsplit

import msgspec

from postoffice.core.hosts import is_loopback
from postoffice.core.tools import MAIL

KEY_VARIABLE = "MAILBOX_API_KEY"
"""Where a client that takes no key from its file finds it; the same as for `postoffice mcp`."""


class Endpoint(msgspec.Struct, frozen=True, kw_only=True):
    """One agent's door."""

    server: str
    agent: str
    key: str | None = None
    tools: str | None = None
    named: bool = True
    """Whether a person chose the name; else each window gets its own."""

    @property
    def url(self) -> str:
        """The address that speaks MCP."""
        return f"{self.server}/mail/{self.agent}" + (f"?tools={self.tools}" if self.tools else "")

    @property
    def toolset(self) -> str:
        """The tools offered there."""
        return self.tools or MAIL

    def words(self, client: str, *, shared: bool = False) -> list[str]:
        """The command that speaks MCP for whichever window of a client starts it."""
        own = (["--as", self.agent] if self.named else []) + (["--shared"] if shared else [])
        return ["mcp", "--window", client, "--server", self.server, *(["--tools", self.tools] if self.tools else []), *own]

    @property
    def host(self) -> str:
        """The machine, without its port."""
        return urlsplit(self.server).hostname or ""

    @property
    def nearby(self) -> bool:
        """Whether the office is on this machine."""
        return is_loopback(self.host)

    def headers(self, key: str | None = None) -> dict[str, dict[str, str]]:
        """The headers of an entry, if there is a key; or another word in the key's place."""
        return {} if self.key is None else {"headers": {"Authorization": f"Bearer {key or self.key}"}}

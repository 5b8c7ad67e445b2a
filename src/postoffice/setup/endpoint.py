"""What a client connects to: an agent's address at an office, and its key."""

from urllib.parse import urlsplit

import msgspec

from postoffice.core.hosts import is_loopback
from postoffice.core.tools import MAIL

KEY_VARIABLE = "MAILBOX_API_KEY"
"""The variable for the key, for clients that do not read it from their file. `postoffice mcp` reads the same one."""


class Endpoint(msgspec.Struct, frozen=True, kw_only=True):
    """One agent's address at an office."""

    server: str
    agent: str
    key: str | None = None
    tools: str | None = None
    named: bool = True
    """Whether a person chose the name. If not, each window gets its own."""

    @property
    def url(self) -> str:
        """The address for MCP."""
        return f"{self.server}/mail/{self.agent}" + (f"?tools={self.tools}" if self.tools else "")

    @property
    def toolset(self) -> str:
        """The tools offered there."""
        return self.tools or MAIL

    def words(self, client: str, *, shared: bool = False) -> list[str]:
        """The command that serves MCP to the window that starts it."""
        own = (["--as", self.agent] if self.named else []) + (["--shared"] if shared else [])
        return ["mcp", "--window", client, "--server", self.server, *(["--tools", self.tools] if self.tools else []), *own]

    @property
    def host(self) -> str:
        """The office's host, without the port."""
        return urlsplit(self.server).hostname or ""

    @property
    def nearby(self) -> bool:
        """Whether the office is on this machine."""
        return is_loopback(self.host)

    def headers(self, key: str | None = None) -> dict[str, dict[str, str]]:
        """The headers of an entry with the key or a placeholder; none without a key."""
        return {} if self.key is None else {"headers": {"Authorization": f"Bearer {key or self.key}"}}

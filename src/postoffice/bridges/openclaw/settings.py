"""How the OpenClaw relay runs: whose mail, which gateway, and how long to wait for what."""

import re
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

import msgspec
from platformdirs import user_state_path

GATEWAY = "http://127.0.0.1:18789"
Mode = Literal["sessions_send", "chat"]


class RelaySettings(msgspec.Struct, frozen=True, kw_only=True):
    """Read once, by the command; nothing here looks at the environment."""

    server: str
    token: str
    """The gateway's. It is a full operator credential: it goes into one header and nowhere else."""
    agent: str | None = None
    """Whose mail; without a name, the key says."""
    key: str | None = None
    gateway: str = GATEWAY
    target: str = "agent:main:main"
    """The session that gets the mail."""
    caller: str = "agent:main:mailbox"
    """The session that hands it over. The gateway refuses a session that waits for itself, so it is another one."""
    mode: Mode = "sessions_send"
    per_sender: bool = False
    """A gateway session for each sender, instead of the target for all."""
    timeout: float = 120.0
    """Seconds to wait for a reply before it is a late one."""
    late_for: float = 86_400.0
    """Seconds after which a late reply is no longer expected."""
    visible_for: float = 60.0
    """Seconds after which mail in the hands of a relay that died is given out again."""
    look: float = 20.0
    """Seconds between two looks when nothing rings."""
    state: Path = user_state_path("postoffice")

    def __repr__(self) -> str:
        """What a log or a traceback may show."""
        return f"RelaySettings(server={self.server!r}, agent={self.agent!r}, gateway={self.gateway!r}, target={self.target!r})"

    def journal(self, agent: str) -> Path:
        """Where this relay's state lives: one file a mailbox."""
        place = re.sub(r"[^A-Za-z0-9.-]", "_", urlsplit(self.server).netloc)
        return self.state / "openclaw" / place / f"{agent.lower()}.json"

    def session_of(self, sender: str) -> str:
        """The gateway session for a new conversation."""
        return f"{self.caller}:{sender.lower()}" if self.per_sender else self.target

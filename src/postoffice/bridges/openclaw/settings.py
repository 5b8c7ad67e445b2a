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
    """How a relay runs. The command reads this once; nothing here looks at the environment."""

    server: str
    token: str
    """The gateway's token. It gives an operator's full rights, so it goes into one header and nowhere else."""
    agent: str | None = None
    """Whose mail to relay; without a name, the key decides."""
    key: str | None = None
    gateway: str = GATEWAY
    target: str = "agent:main:main"
    """The session that gets the mail."""
    caller: str = "agent:main:mailbox"
    """The session that hands the mail over. The gateway refuses a session that waits for itself, so this is another one."""
    mode: Mode = "sessions_send"
    per_sender: bool = False
    """Whether each sender gets a gateway session, instead of one for all."""
    timeout: float = 120.0
    """Seconds to wait for a reply before it counts as late."""
    late_for: float = 86_400.0
    """Seconds to wait for a late reply."""
    visible_for: float = 60.0
    """Seconds after which mail that a dead relay held is given out again."""
    look: float = 20.0
    """Seconds between two looks if there are no hints."""
    state: Path = user_state_path("postoffice")

    def __repr__(self) -> str:
        """Without the tokens, as logs and tracebacks show this."""
        return f"RelaySettings(server={self.server!r}, agent={self.agent!r}, gateway={self.gateway!r}, target={self.target!r})"

    def journal(self, agent: str) -> Path:
        """The file for this relay's state, one a mailbox."""
        place = re.sub(r"[^A-Za-z0-9.-]", "_", urlsplit(self.server).netloc)
        return self.state / "openclaw" / place / f"{agent.lower()}.json"

    def session_of(self, sender: str) -> str:
        """The gateway session for a new conversation."""
        return f"{self.caller}:{sender.lower()}" if self.per_sender else self.target

"""The plugins for clients that are rung from inside: each keeps a line to the bell, which can begin a turn over it."""

import json
from importlib.resources import files
from typing import Any

from platformdirs import user_cache_path

from postoffice.setup.hook import program


def plugin_text(client: str, script: str, server: str, agent: str | None, *, shared: bool) -> str:
    """The plugin's file: the line to the bell, and this client's part, with the bell's address and the command that starts it filled in."""
    manifest: dict[str, Any] = {
        "client": client,
        "server": server,
        "agent": agent,
        "shared": shared,
        "bell": [*program(), "bell"],
        "address": str(user_cache_path("postoffice") / "bell" / "address.json"),
    }
    line, rest = ((files("postoffice.setup") / name).read_text(encoding="utf-8") for name in ("line.js", script))
    return f"{line.replace('TOLD_BY_SETUP', json.dumps(manifest, indent=2))}\n{rest}"

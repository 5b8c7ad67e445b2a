"""The plugins for clients that are rung from inside: a line to the bell, by which a turn can begin."""

import json
from importlib.resources import files
from typing import Any

from platformdirs import user_cache_path

from postoffice.setup.hook import program


def plugin_text(client: str, script: str, server: str, agent: str | None, *, shared: bool) -> str:
    """One file: the line, and what this client tells by it; told where the bell is found and how it is started."""
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

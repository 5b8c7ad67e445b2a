"""The plugin for opencode: a line from inside the client to the bell, by which a turn can begin."""

import json
from importlib.resources import files
from typing import Any

from platformdirs import user_cache_path

from postoffice.setup.hook import program


def plugin_text(server: str, agent: str | None) -> str:
    """The plugin, told where the bell is found and how it is started."""
    text = (files("postoffice.setup") / "opencode.js").read_text(encoding="utf-8")
    manifest: dict[str, Any] = {
        "server": server,
        "agent": agent,
        "bell": [*program(), "bell"],
        "address": str(user_cache_path("postoffice") / "bell" / "address.json"),
    }
    return text.replace("TOLD_BY_SETUP", json.dumps(manifest, indent=2))

"""Entries of an earlier setup that no longer mean what they did."""

import re
import shlex
from typing import NamedTuple

from postoffice.core.errors import MailError
from postoffice.setup import json_text, toml_text
from postoffice.setup.change import read_text
from postoffice.setup.clients import CLIENTS
from postoffice.setup.edit import ADDRESSES
from postoffice.setup.home import Home
from postoffice.setup.path import look

USUAL_NAME = "mail"
_BARE_ADDRESS = re.compile(r"/agents/([^/?]+)/mcp/?$")
"""An agent's address without `tools`: of the two tools it lists, one removes mail as it is read."""


class Outdated(NamedTuple):
    """One outdated entry."""

    title: str
    file: str
    remedy: str
    """The command that updates it."""


def outdated(home: Home) -> list[Outdated]:
    """The outdated entries of all known clients, or of the project's own file."""
    outdated = []
    for key, client in CLIENTS.items():
        if home.project is not None and key != "claude":
            continue  # other clients have no project file
        path = client.config(home)
        editor = toml_text if path.suffix == ".toml" else json_text
        try:
            servers = look(editor.read(read_text(path) or ""), client.servers)
        except (MailError, ValueError, RecursionError):
            continue  # setup reports a broken file when it has to change it
        for name, entry in (servers if isinstance(servers, dict) else {}).items():
            urls = [entry.get(field) for field in ADDRESSES] if isinstance(entry, dict) else []
            if match := next((found for url in urls if isinstance(url, str) and (found := _BARE_ADDRESS.search(url))), None):
                words = ["postoffice", "setup", key, "--agent", match[1], *([] if name == USUAL_NAME else ["--name", str(name)])]
                remedy = shlex.join([*words, *([] if home.project is None else ["--project"])])
                outdated.append(Outdated(client.title, home.short(path), remedy))
    return outdated

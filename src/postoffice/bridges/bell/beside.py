"""An MCP server next to its client: it asks the bell which window it serves, and starts a bell if none runs."""

import os
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec

from postoffice.bridges.bell import call, words
from postoffice.bridges.bell.hook import Wish
from postoffice.bridges.bell.place import CODEX
from postoffice.bridges.bell.terminal import latest, terminal
from postoffice.client.process import Process, client_process, folder_of
from postoffice.client.project import project_at
from postoffice.core.names import check_name

_BELL_SECONDS = 8.0
_AGAIN_SECONDS = 2.0
_OFFERED_SECONDS = (3.0, 12.0)
"""Wait this long after a client listed the tools, as it offers them to its model a moment later. Rings from before are repeated."""


class Beside:
    """The current name of the window that this process was started for."""

    def __init__(self, wish: Wish) -> None:
        self._wish = wish
        self._agent: str | None = None
        self._id: str | None = None
        self._listed = self._has_tools = False
        self._project: str | None = None
        self._known = threading.Event()

    def start(self) -> None:
        """Begin to listen, for as long as this process runs."""
        threading.Thread(target=self._hold, daemon=True).start()

    def agent(self) -> str | None:
        """The window's name. The first to ask waits until it is known."""
        self._known.wait(_BELL_SECONDS)
        return self._agent or self._wish.agent

    def headers(self) -> dict[str, str]:
        """The headers for calls on the window's behalf: its name and its id."""
        headers = {"X-Agent": self.agent(), "X-Window": self._id, "X-Project": self._project}
        return {header: value for header, value in headers.items() if value}

    def listed(self) -> None:
        """The client has listed the tools: from now on a turn can take mail."""
        if not self._listed:
            self._listed = True
            threading.Thread(target=self._tell_tools, daemon=True).start()

    def rename(self, name: str) -> str:
        """Give the window the name its person chose, and say to its model what came of it."""
        context = self._said()
        answer = {} if context is None else call.ask({**context, "say": "name", "name": check_name(name)}, _BELL_SECONDS)
        return words.renamed(name, answer.get("agent"), answer.get("why"))

    def _tell_tools(self) -> None:
        self._known.wait(_BELL_SECONDS)
        for pause in _OFFERED_SECONDS:
            time.sleep(pause)
            self._has_tools = True
            while (context := self._said()) is not None and not call.ask({**context, "say": "tools"}, _BELL_SECONDS).get("heard"):
                time.sleep(_AGAIN_SECONDS)

    def _hold(self) -> None:
        while (context := self._said()) is not None:
            with suppress(ValueError):
                for heard in call.hear({**context, "say": "beside"}, _BELL_SECONDS):
                    if name := heard.get("agent"):
                        self._agent, self._id = str(name), heard.get("window")
                        self._known.set()
            time.sleep(_AGAIN_SECONDS)

    def _said(self) -> dict[str, Any] | None:
        session, at = _window(self._wish.client)
        if at is None or not at.alive:
            return None
        # A plugin may start us in a folder of its own.
        folder = folder_of(at.pid) or str(Path.cwd())
        self._project = quote(project_at(Path(folder)).name)
        return {
            "client": self._wish.client,
            "process": msgspec.to_builtins(at),
            "session": session,
            "folder": folder,
            "server": self._wish.server,
            "agent": self._wish.agent,
            "shared": self._wish.shared,
            "tools": self._has_tools,
            "home": os.environ.get("CODEX_HOME") if self._wish.client == CODEX else os.environ.get("CLAUDE_CONFIG_DIR"),
        }


def _window(client: str) -> tuple[str | None, Process | None]:
    """The conversation and the client's process. Codex's windows share one daemon, which starts us, so the process says nothing there."""
    if client != CODEX:
        return None, client_process()
    session = latest()
    return session, terminal(session, str(Path.cwd())) or terminal(session, None)

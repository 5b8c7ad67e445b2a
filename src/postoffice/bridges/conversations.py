"""Which conversation of a CLI goes with which session of ours, kept from one start to the next."""

import contextlib
import os
from pathlib import Path

import msgspec
from platformdirs import user_state_path


class Conversations:
    """A small file: the CLI's own id by our session's."""

    def __init__(self, agent: str, folder: Path | None = None) -> None:
        self._path = (folder or user_state_path("postoffice") / "runner") / f"{agent.lower()}.json"
        self._known: dict[str, str] = {}
        with contextlib.suppress(OSError, msgspec.DecodeError):  # a conversation that cannot be found is begun anew
            self._known = msgspec.json.decode(self._path.read_bytes(), type=dict[str, str])

    def get(self, session: str) -> str | None:
        """The CLI's conversation for a session."""
        return self._known.get(session)

    def put(self, session: str, conversation: str | None) -> None:
        """Remember it, or that it is of no more use."""
        if self._known.get(session) == conversation:
            return
        if conversation is None:
            self._known.pop(session, None)
        else:
            self._known[session] = conversation
        with contextlib.suppress(OSError):  # what cannot be kept is begun anew after the next start
            self._keep()

    def _keep(self) -> None:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        written = self._path.with_suffix(".new")
        written.write_bytes(msgspec.json.encode(self._known))
        written.chmod(0o600)
        os.replace(written, self._path)  # noqa: PTH105 - the one call that is atomic

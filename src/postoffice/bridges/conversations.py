"""Which conversation of a CLI belongs to which session, kept across restarts."""

import contextlib
import os
from pathlib import Path
from secrets import token_hex

import msgspec
from platformdirs import user_state_path


class Conversations:
    """A small file that maps our session's id to the CLI's. Two runners of one agent share it, so each looks again before it writes."""

    def __init__(self, agent: str, folder: Path | None = None) -> None:
        self._path = (folder or user_state_path("postoffice") / "runner") / f"{agent.lower()}.json"
        self._unkept: dict[str, str | None] = {}
        """Entries that could not be written to the file."""

    def get(self, session: str) -> str | None:
        """The CLI's conversation of a session."""
        return self._known().get(session)

    def put(self, session: str, conversation: str | None) -> None:
        """Remember a conversation, or forget it with None."""
        if self.get(session) == conversation:
            return
        self._unkept[session] = conversation
        with contextlib.suppress(OSError):  # what cannot be written begins anew after the next start
            self._keep()
            self._unkept.clear()

    def _known(self) -> dict[str, str]:
        sessions: dict[str, str | None] = {}
        with contextlib.suppress(OSError, msgspec.DecodeError):  # without its entry a conversation begins anew
            sessions = msgspec.json.decode(self._path.read_bytes(), type=dict[str, str | None])
        return {session: conversation for session, conversation in (sessions | self._unkept).items() if conversation is not None}

    def _keep(self) -> None:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        written = self._path.with_suffix(f".{token_hex(4)}.new")
        try:
            written.touch(0o600)
            written.write_bytes(msgspec.json.encode(self._known()))
            os.replace(written, self._path)  # noqa: PTH105 - the one call that is atomic
        except OSError:
            written.unlink(missing_ok=True)
            raise

"""The skill: how an agent uses its mailbox, in a file that its client reads when mail is the matter."""

from importlib.resources import files
from typing import Final

_MARK: Final = "<!-- postoffice setup -->"
SKILL: Final = (files("postoffice.setup") / "skill.md").read_text(encoding="utf-8")
PROMPT: Final = "setup_prompt.md"


def is_ours(text: str) -> bool:
    """Whether we wrote it."""
    return _MARK in text


def setup_prompt(server: str, usual: str) -> str:
    """What to paste to an agent that is to set itself up."""
    return (files("postoffice.setup") / PROMPT).read_text(encoding="utf-8").replace(usual, server)

"""The skill: a file that tells an agent how to use its mailbox. Its client reads it when the agent deals with mail."""

from importlib.resources import files
from typing import Final

_MARK: Final = "<!-- postoffice setup -->"
SKILL: Final = (files("postoffice.setup") / "skill.md").read_text(encoding="utf-8")
PROMPT: Final = "setup_prompt.md"
_CHOOSE: Final = "Choose a name for yourself (letters, digits, hyphens), and register it:"


def is_ours(text: str) -> bool:
    """Whether we wrote it."""
    return _MARK in text


def setup_prompt(server: str, usual: str, agent: str | None = None) -> str:
    """The prompt for an agent that sets itself up, under a given name or one of its own choice."""
    text = (files("postoffice.setup") / PROMPT).read_text(encoding="utf-8").replace(usual, server)
    if agent is None:
        return text
    assert _CHOOSE in text
    return text.replace(_CHOOSE, f"Your name is `{agent}`. Register it:").replace("YOUR_AGENT_NAME", agent)

"""The skill: how an agent uses its mailbox, in a file that its client reads when mail is the matter."""

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
    """What to paste to an agent that is to set itself up; under a name of its own choice, unless it is given one."""
    text = (files("postoffice.setup") / PROMPT).read_text(encoding="utf-8").replace(usual, server)
    if agent is None:
        return text
    assert _CHOOSE in text
    return text.replace(_CHOOSE, f"Your name is `{agent}`. Register it:").replace("YOUR_AGENT_NAME", agent)

"""What a model says to a task: the result, or that it declines."""

import re
from dataclasses import dataclass

DECLINE = "[decline]"
"""An answer that begins with this rejects the task; what follows is the reason."""

_DECLINED = re.compile(rf"\s*{re.escape(DECLINE)}[\s:]*(.*)", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Answer:
    """The words and files with which a turn ended."""

    text: str
    files: tuple[str, ...] = ()

    @property
    def declined(self) -> str | None:
        """Why the task was declined; None if it was not."""
        found = _DECLINED.fullmatch(self.text)
        return None if found is None else found[1].strip() or "no reason was given"

    def parts(self) -> list[dict[str, str]]:
        """The same as a message carries it: half an emoji or U+0000, which no mailbox keeps, would have the model asked again in vain."""
        text = self.text.encode(errors="replace").decode().replace("\0", "\\u0000")
        words = [{"type": "text", "text": text}] if text else []
        return words + [{"type": "file", "path": path} for path in self.files]

"""A model's answer to a task: the result, or that it declines."""

import json
import re
from dataclasses import dataclass

DECLINE = "[decline]"
"""An answer that begins with this rejects the task; what follows is the reason."""

_LONGEST_BYTES = 900_000
"""Measured as JSON. The office's largest message is one mebibyte by default, and a file may have two."""
_DECLINED = re.compile(rf"\s*{re.escape(DECLINE)}[\s:]*(.*)", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Answer:
    """The text and files with which a turn ended."""

    text: str
    files: tuple[str, ...] = ()

    @property
    def declined(self) -> str | None:
        """Why the task was declined; None if it was not."""
        match = _DECLINED.fullmatch(self.text)
        return None if match is None else match[1].strip() or "no reason was given"

    def parts(self) -> list[dict[str, str]]:
        """The answer as a message's parts."""
        words = [{"type": "text", "text": keepable(self.text)}] if self.text else []
        return words + [{"type": "file", "path": keepable(path)} for path in self.files]


def keepable(text: str) -> str:
    """Make text acceptable to a mailbox: half an emoji, U+0000 or too much text would be refused, and the model asked again in vain."""
    text = text.encode(errors="replace").decode().replace("\0", "\\u0000")
    while (size := len(json.dumps(text, ensure_ascii=False).encode())) > _LONGEST_BYTES:
        text = text[: len(text) * _LONGEST_BYTES // size]
    return text

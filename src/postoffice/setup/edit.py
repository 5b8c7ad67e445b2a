"""The parts we put into a configuration (an entry, a permission, a hook), and how to find and remove them again."""

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any, NamedTuple

from postoffice.setup.path import Path, look

ADDRESSES = ("url", "httpUrl")
"""The fields in which clients keep a server's address."""
_OURS = frozenset({*ADDRESSES, "type", "transport", "headers", "bearer_token_env_var", "enabled", "oauth", "command", "args", "tools"})
"""The fields of an entry that we write. A person's own fields stay."""


class Entry(NamedTuple):
    """Our server in a client's list."""

    path: Path
    value: dict[str, Any]

    def put(self, editor: ModuleType, text: str) -> str:
        """Add it, or update the one that is there."""
        there = look(editor.read(text), self.path)
        wanted = _merged(there, self.value) if isinstance(there, dict) else self.value
        return text if there == wanted else str(editor.put(text, self.path, wanted))

    def found(self, document: Any) -> "Entry | None":
        """It, as it stands there now."""
        there = look(document, self.path)
        return self._replace(value=there) if isinstance(there, dict) else None

    def take(self, editor: ModuleType, text: str, _: Any) -> str:
        """Take it out."""
        return str(editor.drop(text, self.path))


class Permission(NamedTuple):
    """An item in a client's list of permissions."""

    path: Path
    word: str
    granted_by: Callable[[str, str], bool] = str.__eq__
    """Whether an existing item already allows as much."""

    def put(self, editor: ModuleType, text: str) -> str:
        """Add it, unless an existing item allows as much."""
        there = look(editor.read(text), self.path) or []
        granted = any(isinstance(word, str) and self.granted_by(self.word, word) for word in there)
        return text if granted else str(editor.append(text, self.path, self.word))

    def found(self, document: Any) -> "Permission | None":
        """It, if it stands there."""
        return self if self.word in (look(document, self.path) or []) else None

    def take(self, editor: ModuleType, text: str, before: Any) -> str:
        """Remove it, if it was not there before us. If we cannot know, it stays and the user is told, as it may be somebody else's."""
        there = look(editor.read(text), self.path) or []
        if before is None or self.word not in there or self.word in (look(before, self.path) or []):
            return text
        return str(editor.drop(text, (*self.path, there.index(self.word))))


class Hook(NamedTuple):
    """A command among a client's hooks."""

    path: Path
    value: dict[str, Any]
    ours: Callable[[Any], bool]

    def put(self, editor: ModuleType, text: str) -> str:
        """Add it, or replace an older one of ours."""
        there = look(editor.read(text), self.path) or []
        index = next((index for index, item in enumerate(there) if self.ours(item)), None)
        if index is None:
            return str(editor.append(text, self.path, self.value))
        return text if there[index] == self.value else str(editor.put(text, (*self.path, index), self.value))

    def found(self, document: Any) -> "Hook | None":
        """It, as it stands there now."""
        item = next((item for item in look(document, self.path) or [] if self.ours(item)), None)
        return None if item is None else self._replace(value=item)

    def take(self, editor: ModuleType, text: str, _: Any) -> str:
        """Take it out."""
        while (index := next((i for i, item in enumerate(look(editor.read(text), self.path) or []) if self.ours(item)), None)) is not None:
            text = editor.drop(text, (*self.path, index))
        return text


class Answer(NamedTuple):
    """A setting that a person agreed to."""

    path: Path
    value: str

    def put(self, editor: ModuleType, text: str) -> str:
        """Put it in."""
        return text if look(editor.read(text), self.path) == self.value else str(editor.put(text, self.path, self.value))

    def found(self, document: Any) -> "Answer | None":
        """It, if it stands there."""
        return self if look(document, self.path) == self.value else None

    def take(self, editor: ModuleType, text: str, before: Any) -> str:
        """Take it out, if it was not there before us."""
        return text if before is None or self.found(before) is not None else str(editor.drop(text, self.path))


Edit = Entry | Permission | Hook | Answer


def any_of_ours(document: Any, edits: Sequence[Edit]) -> bool:
    """Whether the text has anything that only we write."""
    return any(edit.found(document) is not None for edit in edits if not isinstance(edit, Permission | Answer))


def put_in(editor: ModuleType, text: str, edits: Sequence[Edit]) -> str:
    """The text with all our parts added."""
    for edit in edits:
        text = edit.put(editor, text)
    return text


def take_out(editor: ModuleType, text: str, edits: Sequence[Edit], backup: str | None) -> str | None:
    """The text with all our parts removed. It is the backup if nothing else has changed since, and None if the file was only ours."""
    document = editor.read(text)
    # If there is no backup, we made the file.
    before: Any = {} if backup is None else editor.read(backup)
    if any_of_ours(before, edits):
        backup = before = None  # the backup does not show what was there before us
    present = [there for edit in edits if (there := edit.found(document)) is not None]
    if present and put_in(editor, backup or "", present) == text:
        return backup
    without = text
    for edit in present:
        without = edit.take(editor, without, before)
    if without == text:
        return text
    for edit in present:
        without = _without_empty(editor, without, edit.path, before)
    return None if backup is None and not editor.read(without) else without


def left_in(editor: ModuleType, text: str | None, edits: Sequence[Edit], backup: str | None) -> list[Permission]:
    """Our parts that stay in a text, because we cannot know whether they were there before."""
    if text is None or backup is None or not any_of_ours(editor.read(backup), edits):
        return []
    document = editor.read(text)
    return [edit for edit in edits if isinstance(edit, Permission) and edit.found(document) is not None]


def _without_empty(editor: ModuleType, text: str, path: Path, before: Any) -> str:
    """The text without empty containers that we made."""
    for depth in range(len(path), 0, -1):
        if look(editor.read(text), path[:depth]) in ({}, []) and (before is None or look(before, path[:depth]) is None):
            text = editor.drop(text, path[:depth])
    return text


def _merged(there: dict[str, Any], wanted: dict[str, Any]) -> dict[str, Any]:
    """An entry with our fields as they should be and a person's unchanged, in their present order."""
    kept = {name: wanted.get(name, value) for name, value in there.items() if name in wanted or name not in _OURS}
    merged = kept | wanted
    theirs = there.get("headers")
    others = {name: value for name, value in theirs.items() if name.lower() != "authorization"} if isinstance(theirs, dict) else {}
    if others:
        merged["headers"] = others | wanted.get("headers", {})
    return merged

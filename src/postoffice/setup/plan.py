"""Plans what setting up changes and what undoing it changes back: one change for each file that is not yet as it should be."""

import copy
import re
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec

from postoffice.core.errors import Conflict, Invalid
from postoffice.setup import json_text, toml_text
from postoffice.setup.change import Change, backup_of, read_text
from postoffice.setup.clients import CLIENTS, claude_settings
from postoffice.setup.edit import ADDRESSES, Answer, Edit, Entry, any_of_ours, left_in, put_in, take_out
from postoffice.setup.endpoint import KEY_VARIABLE, Endpoint
from postoffice.setup.home import Home
from postoffice.setup.hook import hooks, program
from postoffice.setup.path import Path as Keys
from postoffice.setup.path import look
from postoffice.setup.plugin import plugin_text
from postoffice.setup.skill import SKILL, is_ours

_OUR_ADDRESS = re.compile(r"/(agents/[^/]+/mcp|mail/[^/]+)/?(\?.*)?$")
_OUR_WORDS = ["-m", "postoffice", "mcp"]


LET_IN = Answer(("crossSessionInbound",), "accept")
"""The setting to accept rings: without it, a window of Claude Code that bypasses permission prompts holds them for its user."""


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """What to set up, in which client."""

    client: str
    name: str
    endpoint: Endpoint
    skill: bool = False
    hook: bool = False
    """Whether its windows get names and are rung."""
    shared: bool = False
    tmux: bool = False
    """Whether rings may be typed into tmux if nothing else wakes a window."""
    let_in: bool = False
    """Whether windows that bypass permission prompts are rung too."""


def setting_up(home: Home, wish: Wish) -> list[Change]:
    """All changes that set it up."""
    changes = [_edited(path, edits, wish.endpoint.key) for path, edits in _files(home, wish, hook=wish.hook, let_in=wish.let_in).items()]
    if wish.hook and (plugin := CLIENTS[wish.client].plugin) is not None:
        agent = wish.endpoint.agent if wish.endpoint.named else None
        text = plugin_text(wish.client, plugin.script, wish.endpoint.server, agent, shared=wish.shared)
        changes.append(_whole(plugin.path(home), text))
    if wish.skill:
        changes.append(_whole(skill_path(home, wish.client), SKILL))
    return [change for change in changes if change.before != change.after]


def taking_back(home: Home, wish: Wish) -> list[Change]:
    """All changes that undo a setup: the entry, and the hooks, the plugin and the skill if they are there."""
    changes = [_unedited(path, edits) for path, edits in _files(home, wish, hook=True, let_in=True).items()]
    for path in (skill_path(home, wish.client), plugin_path(home, wish.client)):
        text = read_text(path) if path is not None else None
        if path is not None and text is not None and is_ours(text):
            changes.append(Change(path=path, before=text, after=None, own_folder=True))
    return [change for change in changes if change.before != change.after]


def plugin_path(home: Home, client: str) -> Path | None:
    """The path of our plugin for a client, if it is rung by one."""
    plugin = CLIENTS[client].plugin
    return None if plugin is None else plugin.path(home)


def lets_in(home: Home) -> bool:
    """Whether Claude Code's settings already decide about rings."""
    text = read_text(claude_settings(home))
    return text is not None and look(json_text.read(text), LET_IN.path) is not None


def skill_path(home: Home, client: str) -> Path:
    """The path of the mailbox's skill for a client."""
    return CLIENTS[client].skills(home) / "mailbox" / "SKILL.md"


def _entry(home: Home, wish: Wish) -> list[Edit]:
    client, to = CLIENTS[wish.client], wish.endpoint
    if home.project is not None and to.key is not None:
        # A project's file is shared but a key is not, so there the entry names a variable.
        to = msgspec.structs.replace(to, key=f"${{{KEY_VARIABLE}}}")
    if wish.hook and client.own is not None and home.project is None:  # a path on this machine does not belong in a shared file
        return [Entry((*client.servers, wish.name), client.own([*program(), *to.words(wish.client, shared=wish.shared)]))]
    return [Entry((*client.servers, wish.name), client.entry(to)), *client.permissions(to)]


def _files(home: Home, wish: Wish, *, hook: bool, let_in: bool) -> dict[Path, list[Edit]]:
    """The edits by file, as hooks and servers may be in the same file."""
    client = CLIENTS[wish.client]
    files = {client.config(home): _entry(home, wish)}
    if hook and client.hooks is not None:
        named = wish.endpoint.agent if wish.endpoint.named else None
        edits: list[Edit] = [*hooks(wish.client, wish.endpoint.server, named, shared=wish.shared, tmux=wish.tmux)]
        if wish.client == "claude" and let_in:
            edits.append(LET_IN)
        files.setdefault(client.hooks(home), []).extend(edits)
    return files


def _edited(path: Path, edits: Sequence[Edit], key: str | None = None) -> Change:
    editor, text = _editor(path), read_text(path)
    document = _read(editor, path, text or "", edits)
    after = put_in(editor, text or "", edits)
    _check_written(editor, path, document, after, edits)
    backed_up = any_of_ours(document, edits) and backup_of(path).exists()
    private = key is not None and key in after
    return Change(path=path, before=text, after=after if after != (text or "") else text, backed_up=backed_up, private=private)


def _unedited(path: Path, edits: Sequence[Edit]) -> Change:
    editor, text = _editor(path), read_text(path)
    if text is None or not any_of_ours(_read(editor, path, text, edits), edits):
        return Change(path=path, before=text, after=text)
    backup = read_text(backup_of(path))
    after = take_out(editor, text, edits, backup)
    left = tuple(f"{'.'.join(map(str, edit.path))} still has {edit.word!r}" for edit in left_in(editor, after, edits, backup))
    return Change(path=path, before=text, after=after, backed_up=True, left=left)


def _whole(path: Path, text: str) -> Change:
    """A file that is entirely ours."""
    there = read_text(path)
    if there is not None and not is_ours(there):
        raise Conflict(why=f"we did not write {path}; move it away first, nothing was written")
    return Change(path=path, before=there, after=text, backed_up=True)


def _editor(path: Path) -> ModuleType:
    return toml_text if path.suffix == ".toml" else json_text


def _read(editor: ModuleType, path: Path, text: str, edits: Sequence[Edit]) -> dict[str, Any]:
    """The content of a file, if our parts can be added to it."""
    try:
        document: dict[str, Any] = editor.read(text)
    except (ValueError, RecursionError) as error:
        kind = "TOML" if editor is toml_text else "JSON"
        raise Invalid(what=str(path), why=f"it is not {kind}: {error}; nothing was written, change it by hand") from None
    for edit in edits:
        _check_room(
            path,
            document,
            edit.path[:-1] if isinstance(edit, Entry | Answer) else edit.path,
            last=dict if isinstance(edit, Entry | Answer) else list,
        )
        there = look(document, edit.path) if isinstance(edit, Entry) else None
        if there is not None and not _is_our_entry(there):
            raise Conflict(why=f"{path} has another server called {edit.path[-1]!r}; choose a name with --name, nothing was written")
    return document


def _is_our_entry(there: Any) -> bool:
    """Whether a server with our name is ours, judged by its address or its command."""
    words = [*_list(look(there, ("command",))), *_list(look(there, ("args",)))]
    started = any(words[at : at + len(_OUR_WORDS)] == _OUR_WORDS for at in range(len(words)))
    return started or any(_OUR_ADDRESS.search(str(look(there, (field,)))) for field in ADDRESSES)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _check_room(path: Path, document: Any, keys: Keys, last: type) -> None:
    """Refuse if there is another value where an object or list should be."""
    for depth in range(1, len(keys) + 1):
        there = look(document, keys[:depth])
        if there is not None and not isinstance(there, last if depth == len(keys) else dict):
            where = ".".join(map(str, keys[:depth]))
            raise Invalid(what=str(path), why=f"{where} has an unexpected form; nothing was written, change it by hand")


def _check_written(editor: ModuleType, path: Path, before: Any, after: str, edits: Sequence[Edit]) -> None:
    """Check the new text: it must contain our parts, and everything else must mean what it did before."""
    try:
        written = editor.read(after)
        right = put_in(editor, after, edits) == after and _others(written, edits) == _others(before, edits)
    except ValueError:
        right = False
    if not right:
        raise Invalid(what=str(path), why="we cannot add to its layout; nothing was written, change it by hand")


def _others(document: Any, edits: Sequence[Edit]) -> Any:
    """A document without our parts."""
    rest = copy.deepcopy(document)
    for edit in edits:
        for depth in range(len(edit.path), 0, -1):
            holder, key = look(rest, edit.path[: depth - 1]), edit.path[depth - 1]
            if holder is not None and (depth == len(edit.path) or not holder.get(key)):
                holder.pop(key, None)
    return rest

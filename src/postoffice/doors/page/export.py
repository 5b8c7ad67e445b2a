"""Exports a conversation, as Markdown to read or as JSON for programs."""

from typing import Any

import msgspec
from starlette.responses import Response

from postoffice.core.errors import NoSuchPath
from postoffice.core.invisible import visible
from postoffice.core.letter import text_of
from postoffice.core.session import Line, Thread
from postoffice.doors.page.look import Look

_KINDS = {"letters.md": "text/markdown; charset=utf-8", "letters.json": "application/json"}
_LETTERS_EXPORTED = 5_000
"""The most letters of one conversation. Of a longer one, the newest are exported."""
_LINES_READ = 200


async def export(look: Look) -> Response:
    """A whole conversation, the oldest letter first. Looking settles nothing."""
    name = look.part("name")
    if name not in _KINDS:
        raise NoSuchPath(path=look.request.url.path)
    thread, lines = await _whole(look)
    body = _markdown(thread, lines) if name.endswith(".md") else msgspec.json.format(msgspec.json.encode(_facts(thread, lines)))
    headers = {"Content-Disposition": f'attachment; filename="thread-{thread.id}{name.removeprefix("letters")}"'}
    return Response(body, headers=headers, media_type=_KINDS[name])


async def _whole(look: Look) -> tuple[Thread, list[Line]]:
    lines: list[Line] = []
    before = None
    while True:
        thread = await look.office.history(look.caller, look.part("session"), before=before, limit=_LINES_READ, peek=True)
        lines += thread.lines
        if len(thread.lines) < _LINES_READ or len(lines) >= _LETTERS_EXPORTED:
            return thread, lines[::-1]
        before = thread.lines[-1].message.id


def _markdown(thread: Thread, lines: list[Line]) -> str:
    parts = [f"# {visible(thread.subject) or 'No subject'}\n"]
    for line in lines:
        message = line.message
        parts.append(f"## {message.sender}, {message.created_at:%Y-%m-%d %H:%M:%S} UTC ({line.state})\n\n{visible(text_of(message))}\n")
    return "\n".join(parts)


def _facts(thread: Thread, lines: list[Line]) -> dict[str, Any]:
    letters = [{"message": line.message, "state": line.state, "standing": line.standing} for line in lines]
    return {"session_id": thread.id, "subject": thread.subject, "letters": letters}

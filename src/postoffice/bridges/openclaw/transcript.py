"""Reads a gateway session's transcript: which entry answers which message."""

from collections.abc import Iterator
from typing import Any

from postoffice.bridges.outcome import Later, Replied, reply_or_silence

_ENDS = (None, "stop", "length")
Entry = dict[str, Any]


def reply_to(mark: str, run_id: str | None, entries: list[Entry]) -> Replied | Later | None:
    """The reply to the message with this mark; Later if the message is there without a reply."""
    place = next((place for place, entry in enumerate(entries) if mark in _text(entry)), None)
    run = run_id
    if place is not None:
        run = str(entries[place].get("idempotencyKey") or "").removesuffix(":user") or run_id
    answers = [answer for entry in entries if run is not None and _run(entry) == run for answer in _answer(entry)]
    if not answers and place is not None:
        # Runs of the chat endpoint have no common name on both sides, so the next answer is the reply.
        answers = list(_next(entries[place + 1 :]))
    if answers:
        return answers[-1]
    return None if place is None else Later(run)


def _next(entries: list[Entry]) -> Iterator[Replied]:
    """The first answer, unless somebody else spoke before it."""
    for entry in entries:
        if entry.get("role") == "user" or "provenance" in entry:
            return
        for answer in _answer(entry):
            yield answer
            return


def _answer(entry: Entry) -> Iterator[Replied]:
    """The text of an entry that ends a turn. What an agent says between two tool calls is not its answer."""
    # Mail from another session also has the role of an assistant; its origin tells it apart.
    if entry.get("role") == "assistant" and "provenance" not in entry and entry.get("stopReason") in _ENDS:
        answer = reply_or_silence(_text(entry))
        if isinstance(answer, Replied):
            yield answer


def _run(entry: Entry) -> object:
    meta = entry.get("__openclaw")
    return meta.get("runId") if isinstance(meta, dict) else None


def _text(entry: Entry) -> str:
    content = entry.get("content")
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content if isinstance(part, dict) and part.get("type") == "text")
    return content if isinstance(content, str) else ""

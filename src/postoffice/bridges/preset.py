"""How each CLI is run for one message: its command line, how it continues a conversation, and how its output is read."""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from postoffice.core.errors import WouldBeAnOption
from postoffice.core.fence import Fence
from postoffice.core.letter import LeasedLetter, text_of_letter

_END_OF_OPTIONS = "--"
_WORDS_AFTER_OPTIONS = frozenset({"resume", "-"})


class Answer(NamedTuple):
    """What a CLI answered, and in which conversation."""

    text: str
    conversation: str | None = None


class Preset(NamedTuple):
    """How one CLI is run and read."""

    first: tuple[str, ...]
    again: tuple[str, ...]
    """The words that continue a conversation; `{conversation}` is its id."""
    read: Callable[[str], Answer]
    given: Callable[[LeasedLetter], bytes]
    """What it gets on its standard input."""
    names: tuple[str, ...] = ()
    """The variables it needs besides those that every command gets."""
    name: str = ""
    """The CLI's name; empty for an own command."""


def with_options(preset: Preset, options: Sequence[str]) -> Preset:
    """The same CLI with more options, placed before its subcommand if it has one."""
    return preset._replace(first=_put(preset.first, options), again=_put(preset.again, options))


def _put(words: tuple[str, ...], options: Sequence[str]) -> tuple[str, ...]:
    at = next((n for n, word in enumerate(words) if word in _WORDS_AFTER_OPTIONS), len(words))
    return (*words[:at], *options, *words[at:])


def fill(words: Sequence[str], letter: LeasedLetter, conversation: str | None = None) -> list[str]:
    """The words with their placeholders filled. Whatever the message says, each stays one word and none becomes an option."""
    values = {
        "{message}": text_of_letter(letter),
        "{prompt}": prompt(letter),
        "{from}": letter.sender,
        "{subject}": letter.subject,
        "{session}": letter.session_id if isinstance(letter.session_id, str) else "",
        "{conversation}": conversation or "",
    }
    filled: list[str] = []
    for word in words:
        # One pass, so that nothing inside a value is taken for a placeholder.
        pieces, rest = [], word
        while rest:
            at, name = min(((rest.find(name), name) for name in values if name in rest), default=(-1, ""))
            if at < 0:
                pieces.append(rest)
                break
            pieces += [rest[:at], values[name]]
            rest = rest[at + len(name) :]
        done = "".join(pieces)
        if done.startswith("-") and not word.startswith("-") and _END_OF_OPTIONS not in words[1 : len(filled)]:
            raise WouldBeAnOption(word=word)
        filled.append(done)
    return filled


def prompt(letter: LeasedLetter) -> str:
    """A message as a model gets it: fenced, and with a line that says who will read the answer."""
    return (
        f"A message from the agent {letter.sender} has come to your mailbox. What you print is sent back to it as the answer.\n"
        f"{Fence().around([letter])}"
    )


def _asked(letter: LeasedLetter) -> bytes:
    """The prompt, on standard input: a command line is too short for some mail, and anybody on the machine can read it."""
    return prompt(letter).encode()


def _nothing(_: LeasedLetter) -> bytes:
    return b""


def _plain(output: str) -> Answer:
    return Answer(output.strip())


def _claude(output: str) -> Answer:
    for event in objects(output):
        if event.get("type", "result") == "result" and "result" in event:
            return Answer(str(event["result"]).strip(), _id(event.get("session_id")))
    return _plain(output)


def _codex(output: str) -> Answer:
    text, thread = "", None
    for event in objects(output):
        if event.get("type") == "thread.started":
            thread = _id(event.get("thread_id"))
        item = event.get("item")
        if isinstance(item, dict) and item.get("type") in ("agent_message", "assistant_message"):
            text = str(item.get("text", ""))
    return Answer(text.strip(), thread) if text or thread else _plain(output)


def _gemini(output: str) -> Answer:
    for event in objects(output):
        if "response" in event:
            return Answer(str(event["response"]).strip(), _id(event.get("session_id")))
    return _plain(output)


def _opencode(output: str) -> Answer:
    texts, session = [], None
    for event in objects(output):
        session = _id(event.get("sessionID")) or session
        part = event.get("part")
        if isinstance(part, dict) and part.get("type") == "text":
            texts.append(str(part.get("text", "")))
    return Answer("\n".join(texts).strip(), session) if texts or session else _plain(output)


def _id(value: object) -> str | None:
    """A conversation's id, if it is safe as a word of a command line. The answer counts without it too."""
    return value if isinstance(value, str) and value.isprintable() and value and not value.startswith("-") else None


def objects(output: str) -> Iterator[dict[str, Any]]:
    """The JSON objects a CLI printed: a single one, or one on each line."""
    for text in (output, *output.split("\n")):  # not by splitlines: JSON strings may contain other line ends
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):  # not JSON, or nested too deeply
            continue
        yield from (item for item in (value if isinstance(value, list) else [value]) if isinstance(item, dict))


PRESETS = {
    "claude": Preset(
        ("claude", "-p", "--output-format", "json"),
        ("claude", "-p", "--output-format", "json", "--resume", "{conversation}"),
        _claude,
        _asked,
        ("ANTHROPIC_*", "CLAUDE_*", "AWS_*", "GOOGLE_*"),
        "claude",
    ),
    "codex": Preset(
        ("codex", "exec", "--json", "--skip-git-repo-check", "-"),
        ("codex", "exec", "--json", "--skip-git-repo-check", "resume", "{conversation}", "-"),
        _codex,
        _asked,
        ("OPENAI_*", "CODEX_*"),
        "codex",
    ),
    "gemini": Preset(
        ("gemini", "--output-format", "json"),
        ("gemini", "--resume", "{conversation}", "--output-format", "json"),
        _gemini,
        _asked,
        ("GEMINI_*", "GOOGLE_*"),
        "gemini",
    ),
    "opencode": Preset(
        ("opencode", "run", "--format", "json"),
        ("opencode", "run", "--format", "json", "--session", "{conversation}"),
        _opencode,
        _asked,
        ("OPENCODE_*", "ANTHROPIC_*", "OPENAI_*", "GEMINI_*", "GOOGLE_*", "AWS_*"),
        "opencode",
    ),
}


def own_command(words: Sequence[str]) -> Preset:
    """An own command, as it was given. What it prints is the answer."""
    # Models' CLIs also read their standard input, where the message would appear again without its fence.
    fenced = any("{prompt}" in word for word in words)
    return Preset(tuple(words), tuple(words), _plain, _nothing if fenced else msgspec.json.encode)

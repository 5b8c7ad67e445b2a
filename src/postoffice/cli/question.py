"""A question to the person at the terminal, before something is done that nobody may have meant."""

import sys
from typing import TextIO

from postoffice.cli.ending import interruptible


def somebody_there() -> bool:
    """Whether there is a person to ask: one who sees the question, and can answer."""
    return on_terminal(sys.stdin) and on_terminal(sys.stdout)


def on_terminal(stream: TextIO | None) -> bool:
    """One that was closed before we began is None."""
    return stream is not None and stream.isatty()


def agreed(question: str) -> bool:
    """Whether the person says yes; anything else is a no."""
    try:
        with interruptible():
            answer = input(f"{question} [y/N] ")
    except EOFError:
        print()  # what was typed ended without the end of a line
        return False
    return answer.strip().lower() in ("y", "yes")

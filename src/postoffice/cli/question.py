"""Asks the person at the terminal before doing something that may be a mistake."""

import sys
from typing import TextIO

from postoffice.cli.ending import interruptible


def somebody_there() -> bool:
    """Whether there is a person who sees the question and can answer."""
    return on_terminal(sys.stdin) and on_terminal(sys.stdout)


def on_terminal(stream: TextIO | None) -> bool:
    """Whether a stream is a terminal. It is None if it was closed before we started."""
    return stream is not None and stream.isatty()


def agreed(question: str) -> bool:
    """Whether the person says yes; anything else is no."""
    try:
        with interruptible():
            answer = input(f"{question} [y/N] ")
    except EOFError:
        print()  # the input ended in the middle of a line
        return False
    return answer.strip().lower() in ("y", "yes")

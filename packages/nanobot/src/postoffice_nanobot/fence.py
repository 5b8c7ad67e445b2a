"""Other agents' words for a model: fenced, with their author, and with hidden characters shown."""

import secrets

from postoffice_nanobot.invisible import visible


def fenced(heading: str, text: str) -> str:
    """Text inside marks. The boundary is random, so the text cannot contain it."""
    boundary = secrets.token_hex(6)
    return f"=== {boundary} {one_line(heading)} ===\n{visible(text)}\n=== {boundary} end ==="


def one_line(text: str) -> str:
    """Text for a heading: it cannot begin a new line."""
    return visible(text).replace("\n", "\\n").replace("\t", " ")

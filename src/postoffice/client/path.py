"""Text that becomes part of an address."""

from urllib.parse import quote


def part(text: str) -> str:
    """Text as one part of a path, whatever is in it."""
    return quote(text, safe="") if text.strip(".") else "%2E" * len(text)

"""What doctor finds of open windows: those of this person on this machine, and whether anything can wake them."""

from postoffice.bridges.bell import place
from postoffice.bridges.bell.window import Window

Found = tuple[str, str]


def unreached() -> list[Found]:
    """Windows that nothing wakes, or not by the best way, each with what is wrong as far as it is known."""
    there = place.address() is not None
    windows = [_found(card, there=there) for card in place.cards() if card.process.alive]
    return [one for one in windows if one is not None]


def _found(card: place.Card, *, there: bool) -> Found | None:
    """One window. What the bell saw counts while it is there: it alone knows of hooks that wait and of plugins."""
    window = Window(card)
    if window.left_alone:
        return None
    name = card.agent or card.folder
    reach = card.reach if there else window.reach()
    if reach == "hook" and card.client == place.CLAUDE:
        return name, "its inbox is closed to us; mail still wakes it, by its hook"
    closed = reach == "none" or (reach == "turn-end" and card.client == place.QWEN)
    if not closed or (card.client in place.PLUGGED and not there):
        return None
    why = "its client holds rings for its user" if window.held() else f"{card.client} has closed the way that is known"
    return name, f"it is not woken by mail: {why}"

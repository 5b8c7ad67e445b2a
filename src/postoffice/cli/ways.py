"""What doctor finds about this user's open windows on this machine: whether anything can wake them."""

from postoffice.bridges.bell import place
from postoffice.bridges.bell.window import Window

Found = tuple[str, str]


def unreached() -> list[Found]:
    """Windows that nothing wakes, or not in the best way, each with the reason if it is known."""
    there = place.address() is not None
    windows = [_found(card, there=there) for card in place.cards() if card.process.alive]
    return [one for one in windows if one is not None]


def _found(card: place.Card, *, there: bool) -> Found | None:
    """One window. If a bell runs, its word counts: only it knows of waiting hooks and of plugins."""
    window = Window(card)
    if window.left_alone:
        return None
    name = card.agent or card.folder
    reach = card.reach if there else window.reach()
    if reach == "hook" and card.client == place.CLAUDE:
        return name, "its inbox is closed to us; its hook still wakes it"
    closed = reach == "none" or (reach == "turn-end" and card.client == place.QWEN)
    if not closed or (card.client in place.PLUGGED and not there):
        return None
    why = "its client holds rings for its user" if window.held() else f"{card.client} has closed the way that is known"
    return name, f"mail does not wake it: {why}"

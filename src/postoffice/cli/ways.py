"""What doctor finds of open windows: those of this person on this machine, and whether anything can wake them."""


def unreached() -> list[tuple[str, str]]:
    """Windows that no way is open to, each with the reason as far as it is known."""
    from postoffice.bridges.bell import place  # noqa: PLC0415 - most commands do without
    from postoffice.bridges.bell.window import Window  # noqa: PLC0415

    found = []
    for card in place.cards():
        window = Window(card)
        if not card.process.alive or window.reach() != "none" or card.client == place.OPENCODE:  # a plugin's line is the bell's own
            continue
        why = "its client holds rings for its user" if window.held() else f"{card.client} has closed the way that is known"
        found.append((card.agent or card.folder, why))
    return found

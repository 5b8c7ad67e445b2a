"""A word that is never shown."""


class Secret:
    """Text that no log, error or picture of a setting tells."""

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """The text itself, for whoever needs it."""
        return self._text

    def __repr__(self) -> str:
        return "Secret(…)"

"""Where the program begins: an interrupt while it is still being loaded ends it without a word."""

_INTERRUPTED = 130


def enter() -> int:
    """Run the command. Loading it takes long enough for somebody to change their mind."""
    try:
        from postoffice.cli.main import main  # noqa: PLC0415 - what is loaded here is what may be interrupted

        return main()
    except KeyboardInterrupt:
        return _INTERRUPTED

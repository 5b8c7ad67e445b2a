"""The program's first file: an interrupt while the rest is loading ends it without a traceback."""

import sys

_INTERRUPTED = 130


def enter() -> int:
    """Run the command. Loading takes long enough for a person to press Ctrl-C."""
    try:
        if sys.argv[1:2] == ["hook"] and not {"-h", "--help"} & set(
            sys.argv
        ):  # a client's turn waits for a hook, so load only what it needs
            from postoffice.cli.bell import run_hook  # noqa: PLC0415

            return run_hook()
        from postoffice.cli.main import main  # noqa: PLC0415 - loaded here, so that an interrupt meanwhile is caught

        return main()
    except KeyboardInterrupt:
        return _INTERRUPTED

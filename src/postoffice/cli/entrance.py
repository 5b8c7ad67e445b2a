"""Where the program begins: an interrupt while it is still being loaded ends it without a word."""

import sys

_INTERRUPTED = 130


def enter() -> int:
    """Run the command. Loading it takes long enough for somebody to change their mind."""
    try:
        if sys.argv[1:2] == ["hook"] and not {"-h", "--help"} & set(
            sys.argv
        ):  # a client's turn waits for it: nothing is loaded that it does not need
            from postoffice.cli.bell import run_hook  # noqa: PLC0415

            return run_hook()
        from postoffice.cli.main import main  # noqa: PLC0415 - what is loaded here is what may be interrupted

        return main()
    except KeyboardInterrupt:
        return _INTERRUPTED

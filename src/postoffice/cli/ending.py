"""How a command is told to end: by a signal, or by closing its terminal."""

import asyncio
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress


def when_told_to_end(act: Callable[[], object], *signals: signal.Signals) -> None:
    """Call this at the first of these signals. Later ones are ignored, as what is in hand is being given back."""
    loop = asyncio.get_running_loop()
    signal_numbers = (*signals, *_closing())

    def end() -> None:
        for one in signal_numbers:
            loop.add_signal_handler(one, lambda: None)
        act()

    with suppress(NotImplementedError):  # on Windows a signal ends the process
        for one in signal_numbers:
            loop.add_signal_handler(one, end)


@contextmanager
def ending_what_was_begun() -> Iterator[None]:
    """Let every signal end the block like an interrupt: half-done work is cleaned up, and programs started for it end too."""

    def end(number: int, _: object) -> None:
        sys.exit(128 + number)

    before = {one: signal.signal(one, end) for one in (signal.SIGTERM, *_closing())}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


@contextmanager
def interruptible() -> Iterator[None]:
    """Let an interrupt end a read of input that may never come. An event loop would only note the first interrupt and read on."""
    noting = signal.getsignal(signal.SIGINT)
    if noting is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, noting)


def _closing() -> tuple[signal.Signals, ...]:
    """The signal of a closed terminal, if it is in force: a command under nohup ignores it."""
    closed = getattr(signal, "SIGHUP", None)  # not on every platform
    return () if closed is None or signal.getsignal(closed) is signal.SIG_IGN else (closed,)

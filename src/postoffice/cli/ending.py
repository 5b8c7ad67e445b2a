"""How a command is told to end: by a signal, or by its terminal, which was closed."""

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress


def when_told_to_end(act: Callable[[], object], *signals: signal.Signals) -> None:
    """Have something done at the first of these signals. Told again, it goes on ending: what it has in hand is being given back."""
    loop = asyncio.get_running_loop()
    closed = getattr(signal, "SIGHUP", None)  # not on every platform
    # What was started with nohup outlives its terminal.
    told = signals if closed is None or signal.getsignal(closed) is signal.SIG_IGN else (*signals, closed)

    def end() -> None:
        for one in told:
            loop.add_signal_handler(one, lambda: None)
        act()

    with suppress(NotImplementedError):  # Windows: there a signal ends the process
        for one in told:
            loop.add_signal_handler(one, end)


@contextmanager
def interruptible() -> Iterator[None]:
    """While input is read that may never come: a loop takes note of the first interrupt and goes on, and here it would go on reading."""
    noting = signal.getsignal(signal.SIGINT)
    if noting is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, noting)

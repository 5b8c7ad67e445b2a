"""How a command is told to end: by a signal, or by its terminal, which was closed."""

import asyncio
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress


def when_told_to_end(act: Callable[[], object], *signals: signal.Signals) -> None:
    """Have something done at the first of these signals. Told again, it goes on ending: what it has in hand is being given back."""
    loop = asyncio.get_running_loop()
    signal_numbers = (*signals, *_closing())

    def end() -> None:
        for one in signal_numbers:
            loop.add_signal_handler(one, lambda: None)
        act()

    with suppress(NotImplementedError):  # Windows: there a signal ends the process
        for one in signal_numbers:
            loop.add_signal_handler(one, end)


@contextmanager
def ending_what_was_begun() -> Iterator[None]:
    """Be ended as by an interrupt, by any signal: what is half done is taken away, and no program started for it goes on without us."""

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
    """While input is read that may never come: a loop takes note of the first interrupt and goes on, and here it would go on reading."""
    noting = signal.getsignal(signal.SIGINT)
    if noting is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, noting)


def _closing() -> tuple[signal.Signals, ...]:
    """What a terminal that is closed sends, where it ends anything: what was started with nohup outlives its terminal."""
    closed = getattr(signal, "SIGHUP", None)  # not on every platform
    return () if closed is None or signal.getsignal(closed) is signal.SIG_IGN else (closed,)

"""Closing politely: when the process is told to stop, waiting calls end first."""

import asyncio
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def draining(drain: Callable[[], None]) -> Iterator[None]:
    """End waiting calls before a stop signal does anything else: a long poll must not hold the server open."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()
    before = {sig: signal.getsignal(sig) for sig in _SIGNALS}

    def stop(sig: int, frame: Any) -> None:
        loop.call_soon_threadsafe(drain)
        handler = before[signal.Signals(sig)]
        if callable(handler):
            handler(sig, frame)
        elif handler is signal.SIG_DFL:
            signal.signal(sig, signal.SIG_DFL)
            signal.raise_signal(sig)

    for sig in _SIGNALS:
        signal.signal(sig, stop)
    try:
        yield
    finally:
        for sig, handler in before.items():
            # Only if nobody has set another handler since.
            if signal.getsignal(sig) is stop:
                signal.signal(sig, handler)

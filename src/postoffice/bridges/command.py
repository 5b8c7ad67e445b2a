"""A command that is run once: given something, heard until it ends, and ended with all it started where it does not end."""

import asyncio
import contextlib
import os
import signal
from collections.abc import Mapping, Sequence

from postoffice.core.errors import CommandFailed

_OUTPUT_BYTES = 64 << 20  # bytes; whole sessions of a CLI as JSON are shorter
_ERROR_BYTES_KEPT = 1 << 16
_OUTPUT_DESCRIPTOR = 1


async def run_command(words: Sequence[str], given: bytes, environment: Mapping[str, str], within: float, folder: str | None = None) -> str:
    """What it printed. Of our own environment it knows what it is given."""
    process, heard = await _start(words, environment, folder)
    try:
        async with asyncio.timeout(within):
            _give(process, given)
            await heard.all
    except BaseException as error:
        await _end(process, heard)
        if isinstance(error, TimeoutError):
            raise CommandFailed(why=f"no answer within {within:g} seconds") from None
        raise
    finally:
        process.close()  # for something that got away may hold on to its output
    if code := process.get_returncode():
        last = (heard.errors.decode(errors="replace").strip().splitlines() or [""])[-1]
        printed, errors = heard.output.decode(errors="replace"), heard.errors.decode(errors="replace")
        raise CommandFailed(why=f"{words[0]} ended with {code}" + (f", saying {last}" if last else ""), printed=printed, errors=errors)
    return heard.output.decode(errors="replace")


async def _start(words: Sequence[str], environment: Mapping[str, str], folder: str | None) -> tuple[asyncio.SubprocessTransport, "_Heard"]:
    """In a session of its own, so that all it starts can be ended with it: also where we are cancelled while it starts."""
    running = asyncio.get_running_loop().subprocess_exec(_Heard, *words, env=environment, cwd=folder, start_new_session=True)
    starting = asyncio.create_task(running)
    try:
        return await asyncio.shield(starting)
    except OSError as error:
        raise CommandFailed(why=f"{words[0]} cannot be run ({error.strerror})") from None
    except BaseException:
        process, heard = await starting
        await _end(process, heard)
        process.close()
        raise


async def _end(process: asyncio.SubprocessTransport, heard: "_Heard") -> None:
    with contextlib.suppress(ProcessLookupError):  # what it started may outlive it, and ends with it
        os.killpg(process.get_pid(), signal.SIGKILL)
    await heard.ended.wait()


def _give(process: asyncio.SubprocessTransport, given: bytes) -> None:
    pipe = process.get_pipe_transport(0)
    assert isinstance(pipe, asyncio.WriteTransport)
    pipe.write(given)  # it need not read
    pipe.close()


class _Heard(asyncio.SubprocessProtocol):
    """What a command says, as it says it."""

    def __init__(self) -> None:
        self.output = bytearray()
        self.errors = b""
        self.ended = asyncio.Event()
        self.all: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Done when it has ended and nobody holds on to its output."""

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd != _OUTPUT_DESCRIPTOR:
            self.errors = (self.errors + data)[-_ERROR_BYTES_KEPT:]
        elif not self.all.done():
            self.output += data
            if len(self.output) > _OUTPUT_BYTES:  # kept in memory, what has no end would take the whole machine
                self.all.set_exception(CommandFailed(why=f"it printed more than {_OUTPUT_BYTES >> 20} MiB"))

    def process_exited(self) -> None:
        self.ended.set()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - a pipe that broke is an end as well
        if not self.all.done():
            self.all.set_result(None)

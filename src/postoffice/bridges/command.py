"""Runs a command once: gives it input and reads its output. If it takes too long, it is killed with all it started."""

import asyncio
import contextlib
import os
import signal
from collections.abc import Mapping, Sequence

from postoffice.core.errors import CommandFailed

_OUTPUT_BYTES = 64 << 20  # a CLI's whole session as JSON is shorter
_ERROR_BYTES_KEPT = 1 << 16
_OUTPUT_DESCRIPTOR = 1


async def run_command(words: Sequence[str], given: bytes, environment: Mapping[str, str], within: float, folder: str | None = None) -> str:
    """What the command printed. It gets only the environment it is given."""
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
        process.close()  # a process that escaped may still hold the output open
    if code := process.get_returncode():
        last = (heard.errors.decode(errors="replace").strip().splitlines() or [""])[-1]
        printed, errors = heard.output.decode(errors="replace"), heard.errors.decode(errors="replace")
        raise CommandFailed(why=f"{words[0]} ended with {code}" + (f", saying {last}" if last else ""), printed=printed, errors=errors)
    return heard.output.decode(errors="replace")


async def _start(words: Sequence[str], environment: Mapping[str, str], folder: str | None) -> tuple[asyncio.SubprocessTransport, "_Heard"]:
    """Start it in a process group of its own, so that all it starts ends with it, even if we are cancelled meanwhile."""
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
    with contextlib.suppress(ProcessLookupError):  # what it started may still run, and has to end too
        os.killpg(process.get_pid(), signal.SIGKILL)
    await heard.ended.wait()


def _give(process: asyncio.SubprocessTransport, given: bytes) -> None:
    pipe = process.get_pipe_transport(0)
    assert isinstance(pipe, asyncio.WriteTransport)
    pipe.write(given)  # it may close its input unread
    pipe.close()


class _Heard(asyncio.SubprocessProtocol):
    """Collects a command's output."""

    def __init__(self) -> None:
        self.output = bytearray()
        self.errors = b""
        self.ended = asyncio.Event()
        self.all: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Done when it has ended and no process holds its output open."""

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd != _OUTPUT_DESCRIPTOR:
            self.errors = (self.errors + data)[-_ERROR_BYTES_KEPT:]
        elif not self.all.done():
            self.output += data
            if len(self.output) > _OUTPUT_BYTES:  # endless output would fill the machine's memory
                self.all.set_exception(CommandFailed(why=f"it printed more than {_OUTPUT_BYTES >> 20} MiB"))

    def process_exited(self) -> None:
        self.ended.set()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - a broken pipe is an end too
        if not self.all.done():
            self.all.set_result(None)

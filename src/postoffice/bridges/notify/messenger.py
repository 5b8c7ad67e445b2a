"""The messenger: takes each word to its notify address in a process of its own."""

import asyncio
import os
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Final

import msgspec

from postoffice.core.errors import ExtraMissing
from postoffice.core.notify import Outcome, Word
from postoffice.core.webhook import Network

_ERRAND_SECONDS: Final = 45.0
_KEPT = ("PATH", "SYSTEMROOT", "TZ", "LANG", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE")
"""The only variables that process gets: no proxies, no secrets."""
_PROGRAM = ("-I", "-m", "postoffice.bridges.notify.word")


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """A word, and the networks it may be sent to besides public addresses."""

    word: Word
    networks: tuple[str, ...]


class Messenger:
    """A service's code may hang, print, or be redirected anywhere. In a process of its own it does the office no harm."""

    def __init__(self, networks: Sequence[Network]) -> None:
        self._networks = tuple(map(str, networks))

    async def carry(self, word: Word) -> Outcome:
        """Take one word to its address."""
        if find_spec("apprise") is None:
            raise ExtraMissing(extra="notify")
        environment = {name: os.environ[name] for name in _KEPT if name in os.environ} | {"NETRC": os.devnull}
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *_PROGRAM,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env=environment,
        )
        try:
            async with asyncio.timeout(_ERRAND_SECONDS):
                said, _ = await process.communicate(msgspec.json.encode(Order(word=word, networks=self._networks)))
            return msgspec.json.decode(said, type=Outcome)
        except TimeoutError:
            return Outcome(error=f"nothing came of it within {_ERRAND_SECONDS:.0f} seconds")
        except msgspec.MsgspecError:
            return Outcome(error="what takes it there broke off")
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()

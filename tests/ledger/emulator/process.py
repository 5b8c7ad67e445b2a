"""An emulator that outlives the programs that are killed around it, and those that would block its loop."""

import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

_ROOT = Path(__file__).parents[3]
_PATIENCE = 30.0


class Remote(msgspec.Struct):
    """Where it is, and its methods: `remote.call("faults.busy", 3)`."""

    grpc_address: str
    nodes: dict[str, str]
    mirror_url: str
    control_url: str
    operator_id: str
    operator_key: str

    def call(self, name: str, *arguments: Any, **options: Any) -> Any:
        """What the method gives, or the field holds, as JSON: bytes are base64, keys hexadecimal."""
        body = msgspec.json.encode({"name": name, "arguments": arguments, "options": options})
        with urllib.request.urlopen(self.control_url, body, timeout=_PATIENCE) as answer:
            return msgspec.json.decode(answer.read())


@contextmanager
def emulator_process(**settings: Any) -> Iterator[Remote]:
    """Run one until the block ends; a throttle is given as `[limit, seconds]`."""
    command = [sys.executable, "-m", "tests.ledger.emulator", msgspec.json.encode(settings).decode()]
    with subprocess.Popen(command, cwd=_ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield msgspec.json.decode(process.stdout.readline(), type=Remote)
        process.stdin.close()
        process.wait(_PATIENCE)

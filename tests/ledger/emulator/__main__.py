"""The emulator as a process of its own: says where it is in one line of JSON and lives until its input ends."""

import asyncio
import json
import sys

from tests.ledger.emulator.running import running_emulator
from tests.ledger.emulator.throttle import Throttle

SHOWN = ("grpc_address", "nodes", "mirror_url", "control_url", "operator_id", "operator_key")


async def main(settings: dict[str, object]) -> None:
    throttles = {name: Throttle(*given) for name, given in settings.items() if isinstance(given, list)}
    async with running_emulator(**{**settings, **throttles}) as ledger:
        print(json.dumps({name: getattr(ledger, name) for name in SHOWN}), flush=True)  # noqa: T201
        await asyncio.to_thread(sys.stdin.read)


asyncio.run(main(json.loads(sys.argv[1]) if len(sys.argv) > 1 else {}))

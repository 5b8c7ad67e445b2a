"""Which ledger a command uses, and the office that belongs to it."""

import argparse
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from postoffice.cli.command import Options
from postoffice.core.errors import BadSetting, ExtraMissing, LedgerUnused, OtherLedger

if TYPE_CHECKING:
    from rich.console import Console

    from postoffice.bridges.ledger.founding import Founding
    from postoffice.client.wire import Wire
    from postoffice.config import Settings


_SETTINGS = ("config", "ledger", "ledger_mirror", "ledger_account", "ledger_key_file")
_JOURNAL = "ledger-setup.jsonl"
_MIRROR_CALLS_PER_SECOND = 10.0


def add_network(parser: argparse.ArgumentParser) -> None:
    """Add the options that choose the ledger."""
    group = parser.add_argument_group("which ledger (as for serve)")
    group.add_argument("--ledger", metavar="NETWORK", help="testnet, mainnet, previewnet, or host:port=0.0.3")
    group.add_argument("--ledger-mirror", metavar="URL", help="its mirror's REST API (the network's own)")
    group.add_argument("--ledger-account", metavar="ID", help="the account that pays")
    group.add_argument("--ledger-key-file", type=Path, metavar="FILE", help="the account's key (or POSTOFFICE_LEDGER_KEY)")
    group.add_argument("--config", type=Path, metavar="FILE", help="settings in TOML (postoffice.toml, if there is one)")


def ledger_settings(options: Options) -> "Settings":
    """The ledger's settings; refuses if none is named."""
    from postoffice.config import read_settings  # noqa: PLC0415

    if find_spec("hiero_sdk_python") is None:
        raise ExtraMissing(extra="ledger")
    settings = read_settings({name: options.get(name) for name in _SETTINGS})
    if settings.ledger is None:
        raise BadSetting(name="ledger", why="say which one: --ledger testnet, or POSTOFFICE_LEDGER")
    from postoffice.bridges.ledger.network import read_nodes  # noqa: PLC0415

    read_nodes(settings.ledger)
    return settings


def open_mirror(settings: "Settings") -> Any:
    """The mirror of this ledger."""
    from postoffice.bridges.ledger.mirror import Mirror  # noqa: PLC0415
    from postoffice.bridges.ledger.network import mirror_of  # noqa: PLC0415

    if (url := settings.ledger_mirror or mirror_of(settings.ledger or "")) is None:
        raise BadSetting(name="ledger_mirror", why="it is needed for a private network")
    return Mirror(url, min(settings.ledger_rate, _MIRROR_CALLS_PER_SECOND))


def run_work(
    options: Options,
    settings: "Settings",
    work: "Callable[[Wire], Awaitable[Any]]",
    render: "Callable[[Console, Any], None]",
    *,
    owner: bool,
) -> Any:
    """Do some work with this ledger and its office, and show the result."""
    import asyncio  # noqa: PLC0415

    from postoffice.cli.caller import asking  # noqa: PLC0415
    from postoffice.cli.show import show  # noqa: PLC0415

    who = options | {"data": settings.data} | ({"agent": "owner"} if owner and not options["agent"] else {})

    async def ask() -> Any:
        async with asking(who) as wire:
            await _check_ledger(wire, settings)
            return await work(wire)

    answer = asyncio.run(ask())
    show(options, answer, render)
    return answer


async def _check_ledger(wire: "Wire", settings: "Settings") -> None:
    """Refuse another ledger than the office's: on that one its topics belong to somebody else or do not exist."""
    from postoffice.bridges.ledger.network import name_of  # noqa: PLC0415

    bridge, network = (await wire.get("/ledger/status"))["bridge"], name_of(settings.ledger or "")
    if bridge is not None and bridge["network"] != network:
        raise OtherLedger(known=bridge["network"], network=network)


def tell_progress(text: str) -> None:
    """Show progress to a person."""
    from postoffice.core.fence import one_line  # noqa: PLC0415

    print(one_line(text), file=sys.stderr, flush=True)


@asynccontextmanager
async def open_founding(wire: "Wire", settings: "Settings") -> "AsyncIterator[Founding]":
    """What makes topics, once no other process here does so."""
    from postoffice.bridges.ledger.founding import Founding  # noqa: PLC0415
    from postoffice.bridges.ledger.journal import only_founder  # noqa: PLC0415
    from postoffice.serve.build import build_network  # noqa: PLC0415

    if not (await wire.get("/ledger/status"))["status"]["kept"]:
        raise LedgerUnused(network=settings.ledger)
    mirror = open_mirror(settings)
    network = build_network(settings)
    try:
        async with only_founder(settings.data / _JOURNAL, tell_progress) as journal:
            yield Founding(wire, network, mirror, journal, tell_progress)
    finally:
        await mirror.close()
        network.close()

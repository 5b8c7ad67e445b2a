"""`postoffice openclaw`: an OpenClaw agent answers its mail."""

import asyncio
import os
import signal
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from postoffice.cli.caller import key_in
from postoffice.cli.command import seconds
from postoffice.cli.ending import when_told_to_end
from postoffice.client.address import DEFAULT, read_address
from postoffice.core.errors import BadSetting

if TYPE_CHECKING:
    from postoffice.bridges.openclaw.settings import RelaySettings

_EXAMPLES = """\
examples:
  OPENCLAW_GATEWAY_TOKEN=… postoffice openclaw --as claw
  OPENCLAW_GATEWAY_TOKEN=… postoffice openclaw --as claw --per-sender --chat
"""


def add(commands: Any) -> None:
    """Add the command and its flags."""
    import argparse  # noqa: PLC0415

    relay = commands.add_parser(
        "openclaw",
        help="let an OpenClaw agent answer its mail",
        description=(
            "Hand each message to an OpenClaw gateway and post the agent's reply into the same session. While the gateway is away "
            "mail waits in the office. The gateway's token comes from OPENCLAW_GATEWAY_TOKEN, never from a flag."
        ),
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    relay.add_argument("--server", metavar="URL", help="the office (POSTOFFICE_SERVER, MAILBOX_SERVER_URL, or 127.0.0.1:8787)")
    relay.add_argument("--as", dest="agent", metavar="NAME", help="whose mail (POSTOFFICE_AGENT; with MAILBOX_API_KEY the key says)")
    relay.add_argument("--gateway", metavar="URL", help="the gateway (OPENCLAW_GATEWAY_URL, or http://127.0.0.1:18789)")
    relay.add_argument("--session", metavar="KEY", help="the gateway session that gets the mail (agent:main:main)")
    relay.add_argument("--from-session", metavar="KEY", help="the gateway session that hands it over (agent:main:mailbox)")
    relay.add_argument("--per-sender", action="store_true", help="a gateway session for each sender")
    relay.add_argument("--chat", action="store_true", help="use /v1/chat/completions: one turn a message, in the agent's own name")
    relay.add_argument("--timeout", type=seconds, metavar="SECONDS", help="how long to wait for a reply before it counts as late (120)")
    relay.set_defaults(command=run)


def run(options: Mapping[str, Any]) -> None:
    """Relay until stopped."""
    from postoffice.bridges.openclaw.relay import run_relay  # noqa: PLC0415 - not needed for help or mistakes
    from postoffice.serve.logs import set_up_logs  # noqa: PLC0415

    settings = relay_settings(options, os.environ)
    if settings is None:
        raise BadSetting(name="OPENCLAW_GATEWAY_TOKEN", why="it is not set; give it gateway.auth.token of ~/.openclaw/openclaw.json")
    set_up_logs("info", "console")
    asyncio.run(_until_stopped(run_relay(settings)))


def relay_settings(options: Mapping[str, Any], environ: Mapping[str, str]) -> "RelaySettings | None":
    """The settings, from flags and the environment; None without a gateway's token."""
    from postoffice.bridges.openclaw.settings import GATEWAY, RelaySettings  # noqa: PLC0415

    token = environ.get("OPENCLAW_GATEWAY_TOKEN", "").strip()
    if not token:
        return None
    server = options.get("server") or environ.get("POSTOFFICE_SERVER") or environ.get("MAILBOX_SERVER_URL") or DEFAULT
    fields: dict[str, Any] = {
        "agent": options.get("agent") or environ.get("POSTOFFICE_AGENT"),
        "key": key_in(environ, "MAILBOX_API_KEY", "POSTOFFICE_KEY"),
        "target": options.get("session"),
        "caller": options.get("from_session"),
        "mode": "chat" if options.get("chat") else None,
        "per_sender": options.get("per_sender") or None,
        "timeout": options.get("timeout"),
    }
    return RelaySettings(
        server=read_address(server, "POSTOFFICE_SERVER"),
        token=token,
        gateway=read_address(options.get("gateway") or environ.get("OPENCLAW_GATEWAY_URL") or GATEWAY, "OPENCLAW_GATEWAY_URL"),
        **{name: value for name, value in fields.items() if value},
    )


async def _until_stopped(relay: Any) -> None:
    """Stop when told to: mail in hand goes back to the office first."""
    task = asyncio.ensure_future(relay)
    when_told_to_end(task.cancel, signal.SIGTERM, signal.SIGINT)
    try:
        await task
    except asyncio.CancelledError:
        return

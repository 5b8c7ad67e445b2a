"""The command about webhooks: addresses that are told of events, and incoming webhooks."""

from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from postoffice.cli.command import Command, Options, argument
from postoffice.cli.show import ago, ahead, say, table
from postoffice.core.errors import Invalid
from postoffice.core.event import Kind
from postoffice.core.hook import HookProof
from postoffice.core.webhook import Shape

if TYPE_CHECKING:
    from rich.console import Console

    from postoffice.client.wire import Wire


async def webhook(wire: "Wire", options: Options) -> Any:
    """List, add, remove, pause, resume or rotate webhooks; open or close an incoming one."""
    act, name = options["act"], options["name"]
    if act == "list":
        return await wire.get("/webhooks") | await wire.get("/hooks")
    if name is None or (act == "add") != (options["url"] is not None):
        raise Invalid(what="webhook", why="say `webhook add NAME URL`, or `webhook list`, or another of its words with a NAME")
    if act == "open":
        if options["to"] is None:
            raise Invalid(what="webhook", why="say whom letters are for: `webhook open NAME --to AGENT`")
        return await wire.post("/hooks", {"name": name, "to": options["to"], "proof": options["proof"]})
    if act == "close":
        return await wire.call("DELETE", f"/hooks/{quote(name, safe='')}")
    if act == "add":
        chosen = {"events": options["event"] or [], "agents": options["agent_told"] or []}
        shape = Shape.SLACK if options["slack"] else Shape.STANDARD
        return await wire.post("/webhooks", {"name": name, "url": options["url"], "bodies": options["bodies"], "shape": shape} | chosen)
    path = f"/webhooks/{quote(name, safe='')}"
    return await wire.call("DELETE", path) if act == "remove" else await wire.post(f"{path}/{act}", {})


def _shown(console: "Console", answer: Any) -> None:
    if "removed" in answer:
        say(console, f"The webhook {answer['removed']} is removed.")
        return
    if "revoked" in answer:
        say(console, f"Nothing can be left at {answer['revoked']} any more.")
        return
    if "address" in answer:
        say(console, f"Letters are left by POST at {answer['address']}, which is not shown again.")
        if answer["secret"]:
            say(console, f"They are signed with {answer['secret']}, which is not shown again either.")
        return
    if "secret" in answer:
        say(console, f"Signed with {answer['secret']}, which is not shown again.")
    webhooks = answer["webhooks"] if "webhooks" in answer else [answer.get("webhook", answer)]
    rows = [(w["name"], urlsplit(w["url"]).hostname or "", ", ".join(w["events"]) or "all", w["state"], _standing(w)) for w in webhooks]
    table(console, ("webhook", "goes to", "events", "is", "stands"), rows, "No webhooks.")
    if answer.get("hooks"):
        hooks = [(h["name"], h["to"], h["proof"], "closed" if h["revoked"] else "open") for h in answer["hooks"]]
        table(console, ("letters left by", "for", "proved by", "is"), hooks, "")


def _standing(webhook: Any) -> str:
    """The remarks on a webhook."""
    taken = f"taken {ago(webhook['delivered_at'])}" if webhook["delivered_at"] else "nothing taken yet"
    counts = [f"{webhook[name]} {word}" for name, word in (("waiting", "waiting"), ("failed", "left out")) if webhook[name]]
    if webhook["next_try_at"] and webhook["error"]:
        counts.append(f"next try {ahead(webhook['next_try_at'])}")
    return "; ".join([taken, *counts, *filter(None, [webhook["error"]])])


COMMANDS = (
    Command(
        "webhook",
        "tell your addresses of events, and let other programs leave letters",
        (
            "postoffice webhook add ci https://ci.example.com/hooks/mail --event task",
            "postoffice webhook add team https://hooks.slack.com/services/T0/B0/x --slack --event question",
            "postoffice webhook resume ci",
            "postoffice webhook open github --to coder --proof github",
        ),
        webhook,
        _shown,
        (
            argument("act", choices=["list", "add", "remove", "pause", "resume", "rotate", "open", "close"]),
            argument("name", nargs="?", help="what you call it"),
            argument("url", nargs="?", help="with add: where to post"),
            argument("--event", action="append", choices=[str(kind) for kind in Kind], help="with add: only these (all)"),
            argument("--of", dest="agent_told", action="append", metavar="AGENT", help="with add: only what happens to these (all)"),
            argument("--bodies", action="store_true", help="with add: include what letters say"),
            argument("--to", metavar="AGENT", help="with open: the agent that gets the letters"),
            argument(
                "--proof",
                choices=[str(one) for one in HookProof],
                default="address",
                help="with open: how they are signed (address: not at all)",
            ),
            argument("--slack", action="store_true", help="with add: as a line of text, as Slack takes it"),
        ),
    ),
)

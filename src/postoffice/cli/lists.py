"""Commands about lists: names whose mail goes to their members."""

from typing import TYPE_CHECKING, Any

from postoffice.cli.command import Command, Options, argument
from postoffice.cli.pages import LIMIT, gathered, tell_of_more
from postoffice.cli.show import ago, say, table
from postoffice.client.path import part
from postoffice.core.errors import Invalid
from postoffice.core.mailing_list import MayJoin, MayPost
from postoffice.core.names import is_list

if TYPE_CHECKING:
    from rich.console import Console

    from postoffice.client.wire import Wire

_RULES = ("description", "who_may_post", "who_may_join", "history")
_OF_AGENTS = ("add", "remove")


async def lists(wire: "Wire", options: Options) -> Any:
    """The lists there are."""
    return await gathered(wire, "/lists", "lists", options["limit"], mine=options["mine"] or None)


def _lists(console: "Console", answer: Any) -> None:
    columns = ("list", "members", "you", "unread", "last", "says")
    rows = [
        (one["name"], one["members"], one["you"] or "", one["unread"] or "", ago(one["last_message_at"]), one["description"])
        for one in answer["lists"]
    ]
    table(console, columns, rows, "No lists. Make one: postoffice list create backend --join anyone")
    tell_of_more(console, answer)


async def one_list(wire: "Wire", options: Options) -> Any:
    """Make a list, change it, come and go, or see who is on it."""
    act, agents, path = options["act"], options["agents"], f"/lists/{part(options['name'])}"
    if bool(agents) is not (act in _OF_AGENTS) and not (act == "create" and agents):
        why = f"say whom: `list {act} NAME AGENT`" if act in _OF_AGENTS else f"`list {act} NAME` takes no agents"
        raise Invalid(what="list", why=why)
    rules = _rules(options)
    if act == "remove":
        gone = [await wire.call("DELETE", f"{path}/members/{part(agent)}") for agent in agents]
        return {"members": [one for some in gone for one in some["members"]]}
    if act != "show":
        # The mark itself begins a comment in most shells, and here a name alone is clear.
        name = options["name"] if is_list(options["name"]) else f"list:{options['name']}"
        calls: dict[str, tuple[str, str, Any]] = {
            "create": ("POST", "/lists", {"name": name, "members": agents} | rules),
            "change": ("PATCH", path, rules),
            "delete": ("DELETE", path, None),
            "add": ("POST", f"{path}/members", {"agents": agents}),
        }
        return await wire.call(*calls.get(act, ("POST", f"{path}/{act}", None)))
    found = await wire.get(path)
    return {"list": found} | (await gathered(wire, f"{path}/members", "members", options["limit"]) if found["you"] == "member" else {})


def _rules(options: Options) -> dict[str, Any]:
    rules: dict[str, Any] = {name: options[name] for name in _RULES if options[name] is not None}
    if options["posters"]:
        rules |= {"posters": options["posters"], "who_may_post": MayPost.NAMED}
    if rules and options["act"] not in ("create", "change"):
        raise Invalid(what="list", why=f"rules are given with create and change, and not with {options['act']}")
    return rules


def _one_list(console: "Console", answer: Any) -> None:
    found, members = (answer, ()) if "name" in answer else (answer.get("list"), answer.get("members", ()))
    if found is not None:
        say(console, f"{found['name']}, kept by {found['owner']}: {found['members']} members, {found['letters']} letters. {_may(found)}")
        if found["description"]:
            say(console, f"It says: {found['description']}")
    for one in members:
        place = {None: "not on it", "left": "no longer on it"}.get(one["place"], one["place"])
        why = f" ({one['detail']})" if one.get("detail") else ""
        say(console, f"{one['name']}: {place}{why}")


def _may(found: Any) -> str:
    who = ", ".join(found["posters"]) or "nobody else" if found["who_may_post"] == MayPost.NAMED else found["who_may_post"]
    joined = {
        MayJoin.ANYONE: "Anyone may join.",
        MayJoin.INVITED: "It is joined by invitation.",
        MayJoin.OWNER: f"{found['owner']} puts members on it.",
    }
    return f"May write: {who}. {joined[MayJoin(found['who_may_join'])]}"


COMMANDS = (
    Command(
        "lists",
        "list the lists there are",
        ("postoffice lists", "postoffice lists --mine --as alice"),
        lists,
        _lists,
        (argument("--mine", action="store_true", help="only those you are on, or are invited to"), LIMIT),
    ),
    Command(
        "list",
        "make a list, join it, put others on it, or see who is",
        (
            "postoffice list create backend --join anyone --description 'Who works on the API' --as alice",
            "postoffice list join backend --as bob",
            "postoffice list add backend carol dave --as alice",
            "postoffice send --to list:backend 'Deploy at noon' --as bob",
        ),
        one_list,
        _one_list,
        (
            argument("act", choices=["create", "show", "join", "leave", "add", "remove", "change", "delete"]),
            argument("name", help="backend, list:backend, or '#backend' in quotes"),
            argument("agents", nargs="*", metavar="AGENT", help="with create, add and remove: whom"),
            argument("--description", help="with create and change: what it is for"),
            argument(
                "--post",
                dest="who_may_post",
                choices=[MayPost.MEMBERS, MayPost.ANYONE],
                help="with create and change: who may write (members)",
            ),
            argument("--poster", dest="posters", action="append", metavar="AGENT", help="with create and change: only these may write"),
            argument("--join", dest="who_may_join", choices=list(MayJoin), help="with create and change: who may join by itself (invited)"),
            argument(
                "--history",
                dest="history",
                action="store_const",
                const=True,
                help="with create and change: who comes later reads what was said",
            ),
            argument(
                "--no-history", dest="history", action="store_const", const=False, help="with create and change: who comes later does not"
            ),
            LIMIT,
        ),
    ),
)

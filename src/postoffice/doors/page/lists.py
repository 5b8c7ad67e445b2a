"""Lists: which there are, who is on them, and to come and go."""

from typing import NamedTuple, TypeVar

from starlette.responses import Response

from postoffice.core.errors import Invalid, NoSuchPath
from postoffice.core.mailing_list import Added, ListMember, ListRules, MailingList, MayJoin, MayPost, Place
from postoffice.core.names import is_list
from postoffice.doors.page.look import Look

T = TypeVar("T", MayPost, MayJoin)
_PATH = "/page/lists"
_LISTS_SHOWN = 100
_MEMBERS_SHOWN = 200


class Roll(NamedTuple):
    """A list with who is on it, for those who may see that."""

    found: MailingList
    members: tuple[ListMember, ...]
    more: bool
    keeps: bool
    """Whether whoever looks decides about it."""
    reads: bool
    """Whether its conversation is open to them."""


async def lists(look: Look) -> Response:
    """All lists, by name."""
    page = await look.office.lists.all(look.caller, look.asked("cursor"), _LISTS_SHOWN)
    return await look.show(
        "lists.html", rolls=[await _roll(look, one) for one in page.items], cursor=page.cursor, added=look.asked("added")
    )


async def make(look: Look) -> Response:
    """Make one."""
    form = await look.form()
    name = form.get("name", "")
    rules = ListRules(
        description=form.get("description", ""),
        who_may_post=_one_of(MayPost, form.get("who_may_post")),
        who_may_join=_one_of(MayJoin, form.get("who_may_join")),
        history=form.get("history") == "1",
    )
    made, added = await look.office.lists.make(
        look.caller, name if is_list(name) else f"list:{name}", rules, _names(form.get("members", ""))
    )
    return look.to(_PATH, {"said": "made", "added": _told(added)}, f"#list-{made.name[1:]}")


async def conclude(look: Look) -> Response:
    """Join it, leave it, put others on it or take them off, or end it."""
    name, office = look.part("name"), look.office
    form = await look.form()
    match look.part("act"):
        case "join":
            await office.lists.join(look.caller, name)
            return look.to(_PATH, {"said": "joined"})
        case "leave":
            await office.lists.leave(look.caller, name)
            return look.to(_PATH, {"said": "left"})
        case "add":
            agents = _names(form.get("agents", ""))
            if not agents:
                raise Invalid(what="agents", why="it names nobody; give an agent, or several with commas between them")
            return look.to(_PATH, {"said": "added", "added": _told(await office.lists.add(look.caller, name, agents))})
        case "remove":
            await office.lists.remove(look.caller, name, [form.get("agent", "")])
            return look.to(_PATH, {"said": "removed"})
        case "delete":
            await office.lists.delete(look.caller, name)
            return look.to(_PATH, {"said": "removed"})
    raise NoSuchPath(path=look.request.url.path)


async def _roll(look: Look, found: MailingList) -> Roll:
    keeps = look.caller.owner or found.owner == look.caller.name
    if found.you is not Place.MEMBER and not keeps:
        return Roll(found, (), more=False, keeps=False, reads=found.you is Place.LEFT)
    page = await look.office.lists.members(look.caller, found.name, limit=_MEMBERS_SHOWN)
    return Roll(found, page.items, page.cursor is not None, keeps, reads=look.caller.owner or found.you is Place.MEMBER)


def _names(text: str) -> list[str]:
    return [name for part in text.split(",") if (name := part.strip())]


def _told(added: tuple[Added, ...]) -> str:
    """Who is not on it for all that was asked, and why."""
    return " ".join(f"{one.name}: {one.detail}." for one in added if one.detail)[:500]


def _one_of(kind: type[T], given: str | None) -> T | None:
    return kind(given) if given in set(kind) else None

"""Lists: make and keep them, come and go, and read what was written to them."""

from typing import Annotated, Any

import msgspec
from fastapi import Path, Query, Response
from pydantic import Field

from postoffice.core.mailing_list import MOST_DESCRIBED, Added, ListMember, ListRules, MailingList, MayJoin, MayPost
from postoffice.doors.rest.answer import answer, gives
from postoffice.doors.rest.body import MOST_ITEMS, Body, Uuid, router
from postoffice.doors.rest.call import Identified
from postoffice.doors.rest.examples import LETTER, MESSAGE_ID, SESSION_ID, WHEN
from postoffice.doors.rest.paging import Cursor, Limit, NameText
from postoffice.doors.thread import History, history_view

routes = router("lists")

_LIST = {
    "name": "#backend",
    "session_id": SESSION_ID,
    "description": "Who works on the API.",
    "owner": "alice-agent",
    "who_may_post": "members",
    "who_may_join": "anyone",
    "history": False,
    "posters": [],
    "members": 2,
    "letters": 7,
    "created_at": WHEN,
    "last_message_at": WHEN,
    "you": "member",
    "unread": 1,
}
_ADDED = {"name": "bob-agent", "place": "member", "detail": None}
_MEMBER = {"name": "bob-agent", "place": "member", "added_by": "alice-agent", "since": WHEN}
_LINE = {"id": MESSAGE_ID, "sender_name": "bob-agent", "content": LETTER["content"], "created_at": WHEN, "is_read": True, "message": LETTER}
_HISTORY = {"session_id": SESSION_ID, "subject": "", "other_agent_name": "#backend", "messages": [_LINE]}
ListName = Annotated[
    str, Path(min_length=1, max_length=120, examples=["backend"], description="`backend`, `list:backend`, or `%23backend`.")
]
Names = Annotated[list[Annotated[str, Field(max_length=100)]], Field(max_length=MOST_ITEMS)]


class RulesBody(Body):
    """What whoever keeps a list decides. What is not given stays as it is."""

    description: str | None = Field(None, max_length=MOST_DESCRIBED)
    who_may_post: MayPost | None = Field(None, description="`members` unless said otherwise; `named`: those in `posters`.")
    who_may_join: MayJoin | None = Field(
        None, description="By their own word: `anyone`, those `invited` (unless said otherwise), or nobody: `owner`."
    )
    history: bool | None = Field(
        None, description="Whether members who come later read what was said before; unless said otherwise they do not."
    )
    posters: Names | None = None

    def rules(self) -> ListRules:
        """The same as the office takes it."""
        given: dict[str, Any] = {name: getattr(self, name) for name in ListRules.__struct_fields__ if name != "posters"}
        return ListRules(**given, posters=None if self.posters is None else tuple(self.posters))


class MakeBody(RulesBody):
    """A list to make."""

    name: str = Field(min_length=1, max_length=120, examples=["#backend"], description="`#backend` or `list:backend`.")
    members: Names = Field([], description="Whom to put on it, or to invite where they take no mail from you.")


class MembersBody(Body):
    """Agents."""

    agents: Names = Field(min_length=1, examples=[["bob-agent"]])


class Lists(msgspec.Struct, frozen=True):
    """Lists, by name."""

    lists: tuple[MailingList, ...]
    cursor: str | None


class Made(msgspec.Struct, frozen=True):
    """A list that was made, and what became of those who were to be on it."""

    list: MailingList
    members: tuple[Added, ...]


class Members(msgspec.Struct, frozen=True):
    """Who is on a list, or is invited, by name."""

    members: tuple[ListMember, ...]
    cursor: str | None


class Changed(msgspec.Struct, frozen=True):
    """What became of each."""

    members: tuple[Added, ...]


@routes.get("/lists", **gives(Lists, {"lists": [_LIST], "cursor": None}))
async def lists(
    call: Identified,
    mine: Annotated[bool, Query(description="Only those the caller is on, or is invited to.")] = False,
    cursor: Cursor = None,
    limit: Limit = None,
) -> Response:
    """The lists there are."""
    page = await call.office.lists.all(call.caller, cursor, limit, mine=mine)
    return answer(Lists(page.items, page.cursor))


@routes.post("/lists", **gives(Made, {"list": _LIST, "members": [_ADDED]}, 201))
async def make(body: MakeBody, call: Identified) -> Response:
    """Make a list. The caller keeps it and is its first member."""
    return answer(Made(*await call.office.lists.make(call.caller, body.name, body.rules(), body.members)), 201)


@routes.get("/lists/{name}", **gives(MailingList, _LIST))
async def show(name: ListName, call: Identified) -> Response:
    """One list."""
    return answer(await call.office.lists.show(call.caller, name))


@routes.patch("/lists/{name}", **gives(MailingList, _LIST))
async def change(name: ListName, body: RulesBody, call: Identified) -> Response:
    """Change it, as whoever keeps it or as the owner. Its members hear of it."""
    return answer(await call.office.lists.change(call.caller, name, body.rules()))


@routes.delete("/lists/{name}", **gives(MailingList, _LIST))
async def delete(name: ListName, call: Identified) -> Response:
    """End it, as whoever keeps it or as the owner. What was written to it stays with those who got it."""
    return answer(await call.office.lists.delete(call.caller, name))


@routes.get("/lists/{name}/members", **gives(Members, {"members": [_MEMBER], "cursor": None}))
async def members(name: ListName, call: Identified, cursor: Cursor = None, limit: Limit = None) -> Response:
    """Who is on it, for its members and for the owner."""
    page = await call.office.lists.members(call.caller, name, cursor, limit)
    return answer(Members(page.items, page.cursor))


@routes.post("/lists/{name}/members", **gives(Changed, {"members": [_ADDED]}))
async def add(name: ListName, body: MembersBody, call: Identified) -> Response:
    """Put agents on it. Whoever takes no mail from the caller is invited, and joins by its own word or does not."""
    return answer(Changed(await call.office.lists.add(call.caller, name, body.agents)))


@routes.delete("/lists/{name}/members/{agent}", **gives(Changed, {"members": [_ADDED | {"place": "left"}]}))
async def remove(name: ListName, agent: NameText, call: Identified) -> Response:
    """Take an agent off it, or an invitation back."""
    return answer(Changed(await call.office.lists.remove(call.caller, name, [agent])))


@routes.post("/lists/{name}/join", **gives(MailingList, _LIST))
async def join(name: ListName, call: Identified) -> Response:
    """Be on it from now on. Said again, it stays so."""
    return answer(await call.office.lists.join(call.caller, name))


@routes.post("/lists/{name}/leave", **gives(MailingList, _LIST | {"you": "left"}))
async def leave(name: ListName, call: Identified) -> Response:
    """Be on it no more. What came before is kept."""
    return answer(await call.office.lists.leave(call.caller, name))


@routes.get("/lists/{name}/history", **gives(History, _HISTORY))
async def history(
    name: ListName,
    call: Identified,
    limit: Annotated[int, Query(ge=1, le=50)] = 10,
    before: Annotated[Uuid | None, Query(description="Only what was said before this message.")] = None,
    peek: Annotated[bool, Query(description="Settle nothing.")] = False,
) -> Response:
    """What was written to it, the newest first. What it shows of the caller's mail is read with that, unless only peeking."""
    return answer(history_view(await call.office.lists.history(call.caller, name, before=before, limit=limit, peek=peek)))

"""Mailboxes as resources: an agent's inbox and sessions, for that agent only, and notifications when they change."""

import asyncio
import re
from contextlib import nullcontext
from datetime import timedelta
from typing import Any

import mcp_types as types
import msgspec
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import SUBSCRIPTION_ID_META_KEY

from postoffice.core.agent import Caller
from postoffice.core.errors import MailError, NotFound, OwnerOnly
from postoffice.core.fence import one_line
from postoffice.core.invisible import visible_json
from postoffice.core.names import folded
from postoffice.doors.mcp.request import McpRequest
from postoffice.doors.mcp.tools.inbox import Conversation, overview
from postoffice.doors.mcp.tools.result import Result
from postoffice.doors.thread import history_view

_URI = re.compile(r"mailbox://([^/]+)/(?:(inbox)|sessions/([^/]+))")
_LOOK_EVERY = timedelta(seconds=20)
_JSON = "application/json"
Context = ServerRequestContext[Any, Any]


class Address:
    """A resource's address, taken apart."""

    def __init__(self, uri: str) -> None:
        match = _URI.fullmatch(uri)
        if match is None:
            raise NotFound(what="resource", ref=uri)
        self.agent, _, self.session = match.groups()


async def list_resources(request: McpRequest) -> types.ListResourcesResult:
    """List the caller's inbox, if the caller is known."""
    if request.name is None:
        return types.ListResourcesResult(resources=[])
    inbox = types.Resource(
        uri=f"mailbox://{request.name}/inbox",
        name="inbox",
        description="Conversations, unread counts, requests to connect.",
        mime_type=_JSON,
    )
    return types.ListResourcesResult(resources=[inbox])


def templates() -> types.ListResourceTemplatesResult:
    """The templates of all addresses."""
    shapes = {
        "mailbox://{agent}/inbox": ("inbox", "An agent's conversations, unread counts, requests to connect."),
        "mailbox://{agent}/sessions/{id}": ("session", "The messages of one conversation, newest first."),
    }
    return types.ListResourceTemplatesResult(
        resource_templates=[
            types.ResourceTemplate(uri_template=uri, name=name, description=text, mime_type=_JSON) for uri, (name, text) in shapes.items()
        ]
    )


async def read_resource(request: McpRequest, uri: str) -> types.ReadResourceResult:
    """Read a mailbox or a session. That settles nothing."""
    address = Address(uri)
    me = await _admitted(request, address)
    if address.session is None:
        result: Result = await overview(request, me)
    else:
        result = Conversation(history=history_view(await request.office.history(me, address.session, peek=True)))
    raw = visible_json(msgspec.json.encode(result.bare()).decode())  # a model reads it unfenced
    return types.ReadResourceResult(
        contents=[
            types.TextResourceContents(uri=uri, mime_type=_JSON, text=raw),
            types.TextResourceContents(uri=uri, mime_type="text/plain", text=result.text()),
        ]
    )


async def listen(request: McpRequest, ctx: Context, params: types.SubscriptionsListenRequestParams) -> types.SubscriptionsListenResult:
    """Notify the caller when its resources change, until it hangs up or the office closes."""
    wanted = {uri: Address(uri) for uri in params.notifications.resource_subscriptions or ()}
    for address in wanted.values():
        await _admitted(request, address)
    meta: dict[str, Any] = {SUBSCRIPTION_ID_META_KEY: ctx.request_id}
    me = await request.caller() if wanted else None
    after = 0 if me is None else await request.office.latest(me)
    honoured = types.SubscriptionFilter(resource_subscriptions=list(wanted) or None)
    acknowledged = types.SubscriptionsAcknowledgedNotificationParams(notifications=honoured, _meta=meta)
    await ctx.session.send_notification(types.SubscriptionsAcknowledgedNotification(params=acknowledged), related_request_id=ctx.request_id)
    with nullcontext() if me is None else request.office.places.taken(me.name):
        while not request.office.draining:
            if me is None:
                # The caller subscribed to nothing that can change, so only keep the stream open.
                await asyncio.sleep(1)
                continue
            events = await request.office.follow(me, after, within=_LOOK_EVERY)
            sessions = {event.session_id for event in events}
            for uri, address in wanted.items():
                if events and (address.session is None or address.session in sessions):
                    changed = types.ResourceUpdatedNotificationParams(uri=uri, _meta=meta)
                    await ctx.session.send_notification(
                        types.ResourceUpdatedNotification(params=changed), related_request_id=ctx.request_id
                    )
            after = events[-1].number if events else after
            me = await request.again()
    return types.SubscriptionsListenResult(_meta=meta)


async def _admitted(request: McpRequest, address: Address) -> Caller:
    """The caller, if the mailbox is its own."""
    me = await request.caller()
    if folded(me.name) != folded(address.agent):
        raise OwnerOnly(what=f"see or change what is {address.agent}'s")
    return me


def as_mcp_error(error: MailError) -> MCPError:
    """A refusal as a protocol error, for requests whose result has no room for one."""
    missing = isinstance(error, NotFound)
    return MCPError(types.INVALID_PARAMS if missing else types.INVALID_REQUEST, one_line(str(error)), {"code": error.code})

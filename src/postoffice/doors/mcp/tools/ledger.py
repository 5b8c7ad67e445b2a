"""The ledger's tools: messages and notes about entities, over the ledger if there is one."""

import msgspec

from postoffice.core.draft import Draft
from postoffice.core.tools import ledger
from postoffice.doors.mcp.request import McpRequest
from postoffice.doors.mcp.tools.receipt import Confirmed, confirmed
from postoffice.doors.mcp.tools.verb import Verb


async def send_message(request: McpRequest, given: ledger.SendMessage) -> Confirmed:
    """Send a message about an entity."""
    me = await request.caller(given.agent_id)
    draft = Draft(
        to=given.to_agent,
        type=given.message_type,
        subject=given.subject,
        content=given.subject if given.payload is msgspec.UNSET else None,
        payload=given.payload,
        ref_id=given.ref_id,
        ref_type=given.ref_type,
        priority=given.priority,
        client_id=given.id,
    )
    return await confirmed(request, me, await request.office.publish(me, draft))


async def post_note(request: McpRequest, given: ledger.PostNote) -> Confirmed:
    """Keep a note with an entity."""
    me = await request.caller(given.agent_id)
    return await confirmed(
        request, me, await request.office.note(me, given.entity_id, given.entity_type, given.note, given.notify, client_id=given.id)
    )


VERBS = (Verb(ledger.SEND_MESSAGE, send_message, Confirmed), Verb(ledger.POST_NOTE, post_note, Confirmed))

"""Results as a model reads them: plain sentences of ours, and others' words behind a fence."""

from collections.abc import Callable, Iterable
from typing import Any

from postoffice.core.delivery import OnLedger, Standing
from postoffice.core.fence import Fence, one_line
from postoffice.doors.mcp import results as gives


def read_out(result: gives.Result) -> str:
    """A result in words."""
    return _READERS[type(result)](result)


def _sent_id(result: gives.SentId) -> str:
    return f"Sent: id {one_line(result.id)}." + (f"\n{_unseen(result.unseen)}" if result.unseen else "")


def _unseen(name: str) -> str:
    return f"Nobody called {name} has been here yet; the message waits for its first call."


def _popped(result: gives.Popped) -> str:
    return "null: the mailbox is empty." if result.letter is None else Fence().around([result.letter])


def _sent(result: gives.Sent) -> str:
    lines = [f"Sent: id {one_line(result.id)}" + (f", session {result.session_id}" if result.session_id else "") + "."]
    for to in result.recipients:
        if to.get("unseen"):
            lines.append(_unseen(to["recipient"]))
        if to.get("refusal"):
            lines.append(f"Not to {to['recipient']}: {to['detail']}")
    lines += _ways(result)
    if result.duplicate:
        lines.append("It had been sent before under this id; nothing was sent twice.")
    return "\n".join(lines)


def _ways(result: gives.Sent) -> list[str]:
    """How it goes, where the ledger was asked for."""
    by = {way: [to["recipient"] for to in result.recipients if to.get("ledger") == way] for way in ("awaiting", "direct")}
    lines = [f"To {', '.join(by['awaiting'])} by the ledger; mailbox_status tells when it is there."] if by["awaiting"] else []
    lines += [f"To {', '.join(by['direct'])} directly, not over the ledger."] if by["direct"] else []
    if result.ledger == "awaiting":
        lines.append("The note is on its way to its entity's topic on the ledger.")
    return lines


def _mail(result: gives.Mail) -> str:
    count = len(result.messages)
    lines = _outcomes(result.acked)
    if result.more is True:
        lines.append("More has come than this answer can hold, and waits: call again to take it.")
        if not count:
            return "\n".join(lines)
    if not count:
        return "\n".join([*lines, "No messages are waiting."])
    ids = ", ".join(item.id for item in result.messages)
    until = min((item.leased_until for item in result.messages if item.leased_until is not None), default=None)
    held = f", held for you until {until:%H:%M:%S} UTC" if until else ""
    lines.append(f"{count} message{'s' if count > 1 else ''}{held}. To ack: {ids}")
    return "\n".join([*lines, Fence().around(result.messages)])


def _settled(result: gives.Settled) -> str:
    if isinstance(result.results, tuple):
        return "\n".join(_outcomes(result.results))
    return f"{result.message_id} is {result.status}."


def _outcomes(settled: Iterable[dict[str, Any]]) -> list[str]:
    """One line for each: what was not settled is told by the id it was called by, which its sender may have chosen."""
    return [one_line(f"{item['message_id']}: {item.get('problem') or item['status']}") for item in settled]


def _overview(result: gives.Overview) -> str:
    inbox, fence = result.inbox, Fence()
    if not inbox.sessions and not inbox.notes and not inbox.pending_connections:
        empty = "The mailbox is empty: no conversations, no notes, and nobody asking to connect."
        return "Nothing is unread, and nobody asks to connect." if result.unread_only else empty
    lines = []
    for session in inbox.sessions:
        lines.append(f"Session {session.session_id} with {session.other_agent_name}: {session.unread_count} unread.")
        if session.recent_messages:
            lines.append(fence.around([line.message for line in session.recent_messages]))
    if inbox.cursor:
        lines.append(_more(inbox.cursor))
    if inbox.notes:
        lines += [f"Outside of sessions: {len(inbox.notes)} waiting.", fence.around(inbox.notes)]
    for pending in inbox.pending_connections:
        lines.append(f"{pending.from_agent_name} asks to connect; code {pending.verification_code}.")
        if pending.message:
            lines.append(fence.words(pending.from_agent_name, pending.message))
    return "\n".join(lines)


def _conversation(result: gives.Conversation) -> str:
    history = result.history
    if not history.messages:
        return f"Session {history.session_id} with {history.other_agent_name} has no messages here."
    head = f"Session {history.session_id} with {history.other_agent_name}, newest first."
    return f"{head}\n{Fence().around([line.message for line in history.messages])}"


def _requested(result: gives.Requested) -> str:
    return (
        f"Asked {result.target_agent_name} for a connection. The code is {result.verification_code}; "
        f"it goes from your person to {result.target_agent_name}'s person, who has it approved within the hour."
    )


def _approved(result: gives.Approved) -> str:
    return f"Connected with {result.connected_agent_name} ({result.assurance})."


def _directory(result: gives.Directory) -> str:
    if not result.agents:
        return "Nobody is here yet."
    fence = Fence()
    lines = []
    for agent in result.agents:
        lines.append(f"{agent.name}: {agent.presence}, {agent.current_tasks} of {agent.max_concurrent_tasks} tasks.")
        card = "\n".join(filter(None, [agent.description, ", ".join(agent.capabilities)]))
        if card:
            lines.append(fence.words(agent.name, card))
    if result.cursor:
        lines.append(_more(result.cursor))
    return "\n".join(lines)


def _more(cursor: str) -> str:
    return f"There are more: cursor {one_line(cursor)}."


def _task(result: gives.TaskResult) -> str:
    return f"Task {result.task.message_id} is {result.task.state}."


def _tasks(result: gives.TaskList) -> str:
    lines = [
        f"Task {task.message_id}: {task.state}, asked by {task.requester} of {task.assignee}"
        + (f", due {task.deadline:%Y-%m-%d %H:%M} UTC" if task.deadline else "")
        for task in result.tasks
    ]
    if result.cursor:
        lines.append(_more(result.cursor))
    return "\n".join(lines) or "No tasks."


def _whereabouts(result: gives.Whereabouts) -> str:
    if result.purged_at is not None:
        return f"{result.message_id} was purged at {result.purged_at:%Y-%m-%d %H:%M} UTC."
    fence, lines = Fence(), [f"{result.message_id}:"]
    for item in result.standings:
        lines.append(f"{item.recipient}: {item.in_words}, {item.attempts} tries{_on_ledger(item)}")
        if item.reason:
            lines.append(fence.words(item.recipient, item.reason))
        if isinstance(item.ledger, OnLedger) and item.ledger.trouble:
            lines.append(fence.words("the ledger", item.ledger.trouble))
    return "\n".join(lines)


def _on_ledger(item: Standing) -> str:
    found = item.ledger
    if not isinstance(found, OnLedger):
        return ""
    if found.sequence is not None:
        return f"; on the ledger: topic {found.topic_id}, message {found.sequence}, at {found.consensus_at}"
    return f"; for topic {found.topic_id}"


def _hits(result: gives.Hits) -> str:
    return Fence().around(result.messages) if result.messages else "Nothing found."


_READERS: dict[type[gives.Result], Callable[[Any], str]] = {
    gives.SentId: _sent_id,
    gives.Popped: _popped,
    gives.Sent: _sent,
    gives.Mail: _mail,
    gives.Settled: _settled,
    gives.Overview: _overview,
    gives.Conversation: _conversation,
    gives.Requested: _requested,
    gives.Approved: _approved,
    gives.Directory: _directory,
    gives.TaskResult: _task,
    gives.TaskList: _tasks,
    gives.Whereabouts: _whereabouts,
    gives.Hits: _hits,
}

"""What our own server offers the doors beyond ASGI. `serve/protocols.py` puts each into a scope's `extensions`; other servers have none.

Every reader works without them: it uses ASGI if it can, or else takes the safer way.
"""

RESET = "postoffice.reset"
"""`() -> bool`: whether the connection broke, so that the last words written may not have arrived.

Read by `mcp/door.py`, which gives back mail that did not arrive. ASGI says that a caller is gone, but not how."""
UNREAD = "postoffice.unread"
"""`(call) -> None`: takes a function, and calls it if the connection breaks soon after this answer and before its next request.

Read by `hangup.py` after an answer with leases: a caller that closes without reading all bytes breaks the connection."""
ARRIVAL = "postoffice.arrival"
"""`() -> bool`: whether all of the request is here.

Read by `edge.py`, which then needs no timer. A timer costs as much as the rest of a small call."""
HANGUP = "postoffice.hangup"
"""`() -> bool`: whether the caller is known to have hung up.

Read by `hangup.py` before an answer with leases. ASGI reports it only to a task that waits for it."""
DEPARTURE = "postoffice.departure"
"""`(Future) -> None`: takes a future, and sets its result when the caller hangs up.

Read by `hangup.py` during work that a hang-up ends. Without it every such call needs a task that waits."""
WHOLE_ANSWER = "postoffice.whole_answer"
"""`(status, headers, written, body) -> bool`: writes an answer in one piece. Returns whether it did.

Read by `reply.py`, which passes the answer's own headers, and those of the edge as bytes. Head and body one after the other
would be two system calls."""
CUTOFF = "postoffice.cutoff"
"""`(code, reason) -> None`: closes a socket even if its peer reads nothing.

Read by `websocket.py`. ASGI's own close waits until the peer has read everything written before."""

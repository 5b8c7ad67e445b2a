"""What our own server tells the doors beyond ASGI. `serve/protocols.py` sets each in a scope's `extensions`; under another server none is there.

Every reader does without: it asks ASGI where it can, and else takes the careful way.
"""

RESET = "postoffice.reset"
"""`() -> bool`: whether the connection broke, so that what was written last may not have arrived.

Read by `mcp/door.py`, which gives mail back that nobody got. ASGI tells that a caller is gone, not how."""
UNREAD = "postoffice.unread"
"""`(call) -> None`: takes a call, and makes it if the connection breaks soon after this answer, before another request comes by it.

Read by `hangup.py` behind an answer that carries leases: a caller that closes with bytes it has not read breaks the connection."""
ARRIVAL = "postoffice.arrival"
"""`() -> bool`: whether all of the request is here.

Read by `edge.py`: then nobody has to be timed, and a timer costs as much as the rest of a small call."""
HANGUP = "postoffice.hangup"
"""`() -> bool`: whether the caller is known to have hung up.

Read by `hangup.py` before an answer carries leases. ASGI says it only to whoever waits for it."""
DEPARTURE = "postoffice.departure"
"""`(Future) -> None`: takes a future, and sets its result when the caller hangs up.

Read by `hangup.py` while work goes on that a hang-up ends: otherwise every such call needs a task that waits for it."""
WHOLE_ANSWER = "postoffice.whole_answer"
"""`(status, headers, written, body) -> bool`: writes an answer in one piece, and says whether it did.

Read by `reply.py`, which gives the answer's own headers, and those of the edge as they are written. Head and body one after the other
would be two calls of the system."""
CUTOFF = "postoffice.cutoff"
"""`(code, reason) -> None`: closes a socket although nobody reads from it.

Read by `websocket.py`. ASGI's close waits until the peer has taken all that was written before."""

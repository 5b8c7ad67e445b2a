"""What a tool does: which verb of the office it calls, and what it answers."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any, NamedTuple

from postoffice.core.tools.tool import Tool
from postoffice.doors.mcp.request import McpRequest
from postoffice.doors.mcp.tools.result import Result


class Verb(NamedTuple):
    """What one tool does."""

    tool: Tool
    run: Callable[[McpRequest, Any], Awaitable[Result]]
    """Takes the request and the arguments, an instance of `tool.arguments`."""
    result: type[Result]
    lasts: Callable[[McpRequest, Any], timedelta] | None = None
    """How long a call may wait at most; None if it is answered at once."""

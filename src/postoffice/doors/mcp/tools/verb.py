"""A tool at work: which verb of the office it calls, and what it answers with."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any, NamedTuple

from postoffice.core.tools.tool import Tool
from postoffice.doors.mcp.request import McpRequest
from postoffice.doors.mcp.tools.result import Result


class Verb(NamedTuple):
    """One tool at work."""

    tool: Tool
    run: Callable[[McpRequest, Any], Awaitable[Result]]
    """Takes who calls and the arguments, as `tool.arguments` has them."""
    result: type[Result]
    lasts: Callable[[McpRequest, Any], timedelta] | None = None
    """The longest a call may wait; none where it is answered at once."""

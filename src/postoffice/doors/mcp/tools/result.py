"""What a tool answers with: a text for a model, and raw values for programs."""

from typing import Any, ClassVar, Self

import msgspec

from postoffice.core.fence import one_line
from postoffice.doors.mcp.request import McpRequest


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """One tool's answer."""

    shape: ClassVar[type[msgspec.Struct] | None] = None
    """What programs get of it, where that is not all."""
    wraps: ClassVar[dict[str, Any] | None] = None
    """The schema of a bare answer that is no object: MCP carries it as the one property of one, as FastMCP does."""

    def text(self) -> str:
        """As a model reads it: plain sentences of ours, and others' words behind a fence."""
        raise NotImplementedError

    def bare(self) -> object:
        """What a shell script wants of it."""
        return self

    def structured(self) -> Any:
        """The object that MCP carries for programs."""
        bare = msgspec.to_builtins(self.bare())
        return bare if self.wraps is None else {"result": bare}

    async def smaller(self, request: McpRequest) -> Self | None:  # noqa: ARG002 - most can do nothing for it
        """The same with less in it; None where it cannot be less."""
        return None


def output_schema(result: type[Result]) -> dict[str, Any]:
    """The shape of an answer as JSON schema, one level deep: whoever wants more looks at the answer."""
    if result.wraps is not None:
        return {"type": "object", "properties": {"result": result.wraps}, "required": ["result"], "x-fastmcp-wrap-result": True}
    carried = result.shape or result
    schema = msgspec.json.schema(carried)["$defs"][carried.__name__]
    properties = {name: _shallow(part) for name, part in schema["properties"].items()}
    return {"type": "object", "properties": properties, "required": schema["required"]}


def _shallow(schema: dict[str, Any]) -> dict[str, Any]:
    if "$ref" in schema:
        return {}
    if "anyOf" in schema:
        return {"anyOf": [_shallow(choice) for choice in schema["anyOf"]]}
    if schema.get("type") == "array":
        return {"type": "array"}
    return {name: value for name, value in schema.items() if name in ("type", "format", "enum")}


def more(cursor: str) -> str:
    """How a list goes on."""
    return f"There are more: cursor {one_line(cursor)}."

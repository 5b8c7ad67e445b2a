"""A tool's answer: text for a model, and raw values for programs."""

from typing import Any, ClassVar, Self

import msgspec

from postoffice.core.fence import one_line
from postoffice.doors.mcp.request import McpRequest


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """One tool's answer."""

    shape: ClassVar[type[msgspec.Struct] | None] = None
    """The fields that programs get, if not all."""
    wraps: ClassVar[dict[str, Any] | None] = None
    """The schema of a bare answer that is not an object. MCP wraps it as an object's only property, as FastMCP does."""

    def text(self) -> str:
        """The text for a model: plain sentences of ours, and others' words inside a fence."""
        raise NotImplementedError

    def bare(self) -> object:
        """The answer for a shell script."""
        return self

    def structured(self) -> Any:
        """The object that MCP carries for programs."""
        bare = msgspec.to_builtins(self.bare())
        return bare if self.wraps is None else {"result": bare}

    async def smaller(self, request: McpRequest) -> Self | None:  # noqa: ARG002 - most answers cannot become smaller
        """The same answer with less in it; None if it cannot be smaller."""
        return None


def output_schema(result: type[Result]) -> dict[str, Any]:
    """An answer's JSON schema, one level deep: the answer itself shows the rest."""
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
    """The line that says how to get the rest of a list."""
    return f"There are more: cursor {one_line(cursor)}."

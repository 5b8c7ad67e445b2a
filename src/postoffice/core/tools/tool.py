"""A tool agents are offered: its name, what it is for, what it takes, and how a call's arguments are read."""

from datetime import timedelta
from functools import cache
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from postoffice.core.errors import BadText, Invalid
from postoffice.core.limits import Limits

_MILLISECOND = timedelta(milliseconds=1)


class Arguments(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a tool takes, as a model is told it: few words, all of them needed."""


class Tool(msgspec.Struct, frozen=True, kw_only=True):
    """One tool."""

    name: str
    title: str
    """What a person is shown instead of the name."""
    description: str
    arguments: type[Arguments]
    reads_only: bool = False
    repeatable: bool = False
    """Calling it twice with the same arguments does no more than calling it once."""
    takes_away: bool = False
    """What it does cannot be undone."""
    comes_again: bool = False
    """What it takes is delivered again where its answer is lost."""
    brief: bool = False
    """Whether its schema leaves out what a model does well without: what is too little, and that nothing else is taken."""


def says(description: str) -> Meta:
    """What a model is told of one argument."""
    return Meta(description=description)


def from_least(least: int, limit: str, description: str | None = None, *, usual: str | None = None, unit: timedelta = _MILLISECOND) -> Meta:
    """The most is a setting, which the office knows, and whoever lists the tools says; so may be what is taken where nothing is given.

    The bound only keeps what is read within reach.
    """
    settings = {"most": limit, "unit_ms": unit // _MILLISECOND} | ({} if usual is None else {"usual": usual})
    return Meta(ge=least, le=1_000_000_000_000, description=description, extra_json_schema=settings)


def plainly(schema: dict[str, Any], description: str | None = None) -> Meta:
    """What a model is told to give, where we take more than that."""
    return Meta(description=description, extra_json_schema={"plainly": schema})


_ME = frozenset({"agent_id", "from"})
Me = Annotated[str, says("Your own agent name, where neither address nor key says it.")]
Cursor = Annotated[str, says("Where an earlier list said that it goes on.")]
Unlisted = Meta(extra_json_schema={"unlisted": True})
"""What is taken but not listed: programs know it, and a model does well without."""
OwnId = Annotated[str, says("Your own id; a retry with it does nothing twice.")]


def read_arguments(tool: Tool, arguments: object) -> Any:
    """A call's arguments, checked; a refusal says which is wrong and what the tool takes."""
    try:
        # Not strictly: to JSON 5.0 is as whole as 5, some know no other numbers, and models and shells write them as text.
        return msgspec.convert(_filled_in(tool, arguments), tool.arguments, strict=False)
    except UnicodeEncodeError:
        raise BadText(where=tool.name, what="a lone surrogate") from None
    except msgspec.ValidationError as error:
        why, _, path = str(error).partition(" - at `$")
        where = path.strip("`.") or "arguments"
        names = ", ".join(field.encode_name for field in msgspec.structs.fields(tool.arguments))
        raise Invalid(what=f"{tool.name}: {where}", why=f"{why[:1].lower()}{why[1:]}; it takes {names or 'nothing'}") from None


def _filled_in(tool: Tool, arguments: object) -> object:
    """Arguments without those that say nothing: whoever has to fill in every one means none by null or, where it may be none, an empty text."""
    if not isinstance(arguments, dict):
        return {} if arguments is None else arguments
    empty = _may_be_left_out(tool.arguments)
    return {name: value for name, value in arguments.items() if (name == "payload" if value is None else value != "" or name not in empty)}


@cache
def _may_be_left_out(arguments: type[msgspec.Struct]) -> frozenset[str]:
    """What says nothing when it is an empty text: all that is optional, but for what a message says, which may be nothing."""
    optional = {field.encode_name for field in msgspec.structs.fields(arguments) if not field.required}
    return frozenset(optional - {"content", "payload"})


def input_schema(tool: Tool, limits: Limits, *, known: bool = False) -> dict[str, Any]:
    """What a tool takes, as JSON schema, without a word too many: every conversation pays for it. Whoever is known need not say who it is."""
    whole = msgspec.json.schema(tool.arguments)
    shape = whole["$defs"][tool.arguments.__name__]
    listed = {name: _plain(part) for name, part in shape["properties"].items() if not (known and name in _ME)}
    properties = {name: _bounded(part, limits) for name, part in listed.items() if "unlisted" not in part}
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    if tool.brief:
        properties |= {name: {word: value for word, value in part.items() if word != "minimum"} for name, part in properties.items()}
    else:
        schema["additionalProperties"] = False
    return schema | ({"required": shape["required"]} if shape["required"] else {})


def hints(tool: Tool) -> dict[str, bool]:
    """What a client goes by before it asks its person whether a tool may be called, in MCP's words; without them it asks always."""
    return {
        "readOnlyHint": tool.reads_only,
        "destructiveHint": tool.takes_away,
        "idempotentHint": tool.repeatable or tool.reads_only,
        "openWorldHint": False,
    }


def _bounded(schema: dict[str, Any], limits: Limits) -> dict[str, Any]:
    """A property whose bound or default is a setting, with its number."""
    if "most" not in schema:
        return schema
    rest = {name: value for name, value in schema.items() if name not in ("most", "usual", "unit_ms")}
    numbers = {"maximum": schema["most"]} | ({"default": schema["usual"]} if "usual" in schema else {})
    return rest | {name: _number(getattr(limits, setting), schema["unit_ms"]) for name, setting in numbers.items()}


def _number(value: int | timedelta, unit_ms: int) -> int:
    return value // (unit_ms * _MILLISECOND) if isinstance(value, timedelta) else value


def _plain(schema: dict[str, Any]) -> dict[str, Any]:
    """A property without titles, and without the null that leaving it out says better."""
    if "plainly" in schema:
        plain: dict[str, Any] = schema["plainly"]
        return plain | ({"description": schema["description"]} if "description" in schema else {})
    if "anyOf" in schema:
        choices = [choice for choice in schema["anyOf"] if choice != {"type": "null"}]
        schema = {name: value for name, value in schema.items() if name not in ("anyOf", "default")}
        schema |= choices[0] if len(choices) == 1 else {"anyOf": choices}
        if "plainly" in schema:
            return _plain(schema)
    return {
        name: value for name, value in schema.items() if name not in ("title", "default") or (name == "default" and value not in (None, []))
    }

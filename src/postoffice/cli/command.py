"""A command: its name, its arguments, what it does, and how its answer is shown to a person."""

import argparse
import math
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from rich.console import Console

    from postoffice.client.wire import Wire

Options = dict[str, Any]
Run = Callable[["Wire", Options], Awaitable[Any]]
Render = Callable[["Console", Any], None]


class Argument(NamedTuple):
    """One argument, as argparse takes it."""

    flags: tuple[str, ...]
    settings: dict[str, Any]


def argument(*flags: str, **settings: Any) -> Argument:
    """An argument of a command."""
    return Argument(flags, settings)


CLIENTS = {"claude": "claude-code"} | {name: name for name in ("codex", "copilot", "gemini", "kilo", "omp", "opencode", "pi", "qwen")}
"""The clients whose windows we know, with their names at the office."""


class Command(NamedTuple):
    """A command that asks the office something and shows the answer."""

    name: str
    help: str
    examples: tuple[str, ...]
    run: Run
    render: Render
    arguments: tuple[Argument, ...] = ()
    in_window: bool = False
    """Whether it speaks by default as the agent of the window it runs in."""


Commands = "argparse._SubParsersAction[Any]"


def add_commands(commands: Any, wanted: Sequence[Command], do: Callable[[Command], Callable[[Options], None]]) -> None:
    """Add commands to a parser, each with its examples and the options for its caller."""
    for command in wanted:
        parser = add_parser(commands, command.name, command.help, command.examples, command.arguments)
        add_caller(parser)
        parser.set_defaults(command=do(command))


def add_parser(commands: Any, name: str, help: str, shown: Sequence[str], arguments: Sequence[Argument]) -> argparse.ArgumentParser:
    """Add a command's parser, with examples."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=help,
        description=f"{help[:1].upper()}{help[1:]}.",
        epilog=examples(*shown),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    for flags, settings in arguments:
        parser.add_argument(*flags, **settings)
    return parser


def add_caller(parser: argparse.ArgumentParser) -> None:
    """Add the options for the caller, the office, and the form of the answer."""
    group = parser.add_argument_group("who and where")
    group.add_argument("--server", metavar="URL", help="the office (POSTOFFICE_SERVER, or http://127.0.0.1:8787)")
    group.add_argument("--as", dest="agent", metavar="AGENT", help="speak as this agent (POSTOFFICE_AGENT)")
    group.add_argument("--json", action="store_true", help="JSON, as when piped")


def seconds(text: str) -> float:
    """Parse a number of seconds, above 0 and with a bound."""
    if not 0 < (number := float(text)) < math.inf:
        raise ValueError
    return number


def examples(*lines: str) -> str:
    """The examples at the end of a help text."""
    return "examples:\n" + "\n".join(f"  {line}" for line in lines)

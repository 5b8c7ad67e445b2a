"""The command: parse, run one command, and report any failure in one line."""

import argparse
import errno
import io
import os
import re
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from postoffice import __version__
from postoffice.cli import (
    attaching,
    bell,
    bridges,
    bulk,
    consent,
    for_you,
    guard,
    inviting,
    keeping,
    ledger,
    lists,
    login,
    mail,
    notifying,
    openclaw,
    pausing,
    people,
    questions,
    recurring,
    reserving,
    roles,
    sending,
    server,
    setup,
    watching,
    webhooks,
    windows,
    work,
)
from postoffice.cli.caller import asking, server_of
from postoffice.cli.command import Command, Options, add_commands, examples
from postoffice.cli.show import show
from postoffice.cli.start import begin
from postoffice.core.errors import MailError

_OPENING = frozenset(
    (
        "ack",
        "approve",
        "ask",
        "connect",
        "forward",
        "list",
        "nack",
        "note",
        "quiet",
        "register",
        "reject",
        "reply",
        "reserve",
        "roles",
        "send",
        "task",
        "upload",
    )
)
"""Commands that start this machine's office if it is not running. Commands that only read start nothing."""
_WRONG_INPUT, _NO_IO = 65, 74
_NO_CHOICE = re.compile(r"argument (.+?): invalid choice: '(.*?)' \(choose from (.*)\)", re.DOTALL)
_LEAST_LIKENESS = 0.5
"""How similar a mistyped word has to be; `sned` is half of `send`."""
_CHOICES_NAMED = 9


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {_printable(_meant(message))}; see `{self.prog} --help`\n")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Report an unknown argument by the command's own parser, whose help explains it."""
        options, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return options, unknown


def _meant(message: str) -> str:
    """An error for a wrong choice: names the nearest choice, or all if they are few."""
    wrong_choice = _NO_CHOICE.fullmatch(message)
    if wrong_choice is None:
        return message
    import difflib  # noqa: PLC0415 - needed only for mistakes

    what, given, choices = wrong_choice[1], wrong_choice[2], re.findall(r"[^\s,']+", wrong_choice[3])
    near = difflib.get_close_matches(given, choices, 1, _LEAST_LIKENESS)
    wrong = f"there is no command {given!r}" if what == "COMMAND" else f"{what}: there is no {given!r}"
    if near:
        return f"{wrong}; did you mean {near[0]}?"
    return wrong if len(choices) > _CHOICES_NAMED else f"{wrong}, only {', '.join(choices)}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and give its exit code."""
    if sys.stderr is None:  # closed before we started: errors would come out among the answers
        sys.stderr = open(os.devnull, "w")  # noqa: PTH123, SIM115 - until the process ends
    if isinstance(sys.stdout, io.TextIOWrapper):
        # JSON is UTF-8 everywhere; a terminal shows a mark for characters it cannot show.
        sys.stdout.reconfigure(encoding=None if sys.stdout.isatty() else "utf-8", errors="replace")
    options = _read(list(sys.argv[1:] if arguments is None else arguments))
    command = options.pop("command")
    try:
        code = command(options) or 0
        if sys.stdout is not None:
            sys.stdout.flush()
    except MailError as error:
        from postoffice.doors.faults import fault  # noqa: PLC0415 - only a failure needs it

        return _tell(str(error), fault(error).exit_code)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader of our output has gone; keep Python from complaining about that at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except UnicodeError as error:
        return _tell(f"that is not text in UTF-8 ({error.reason if hasattr(error, 'reason') else error})", _WRONG_INPUT)
    except OSError as error:
        if error.errno == errno.ENOSPC and sys.stdout is not None:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _tell(f"{error.strerror}" + (f": {error.filename}" if error.filename else ""), _NO_IO)
    return code


def _read(arguments: list[str]) -> Options:
    """The options. What comes after `--` is another program's command line."""
    if arguments[:1] != ["run"] or "--" not in arguments:
        return vars(parser().parse_args(arguments))
    at = arguments.index("--")
    options = vars(parser().parse_args(arguments[:at]))
    begun = options["words"]
    options["words"] = begun + arguments[at:] if begun else arguments[at + 1 :]  # inside a command, `--` belongs to that command
    return options


def _tell(why: str, code: int) -> int:
    print(f"postoffice: {_printable(why)}", file=sys.stderr)
    return code


def _printable(why: str) -> str:
    """Make an error safe to print: it may repeat an id that another agent chose."""
    from postoffice.core.fence import one_line  # noqa: PLC0415 - only a failure needs it

    return one_line(why)


def parser() -> Parser:
    """Every command and its flags."""
    root = Parser(prog="postoffice", description="Durable mail between AI agents.")
    root.set_defaults(command=begin)
    root.add_argument("--version", action="version", version=f"postoffice {__version__}")
    commands = root.add_subparsers(title="commands", metavar="COMMAND")
    server.add(commands)
    for noun in (
        people,
        pausing,
        inviting,
        login,
        sending,
        attaching,
        for_you,
        questions,
        mail,
        consent,
        work,
        bulk,
        recurring,
        reserving,
        roles,
        lists,
        windows,
        webhooks,
        notifying,
    ):
        add_commands(commands, noun.COMMANDS, _asking)
    watching.add(commands)
    bridges.add(commands)
    openclaw.add(commands)
    ledger.add(commands, _asking)
    setup.add(commands)
    bell.add(commands)
    guard.add(commands)
    keeping.add(commands)
    _add_completions(commands, root)
    return root


def _asking(command: Command) -> Callable[[Options], None]:
    """Run a command that asks the office, and return its exit code."""

    async def ask(options: Options) -> Any:
        if command.name in _OPENING:
            from postoffice.client import starter  # noqa: PLC0415 - needed only by commands that may start an office

            await starter.ensure_open(server_of(options))
        async with asking(options | {"in_window": command.in_window}) as wire:
            return await command.run(wire, options)

    def run(options: Options) -> None:
        import asyncio  # noqa: PLC0415 - help does without

        show(options, asyncio.run(ask(options)), command.render)

    return run


def _add_completions(commands: Any, root: Parser) -> None:
    completing = commands.add_parser(
        "completions",
        help="print a shell's completions",
        description="Print completions for a shell.",
        epilog=examples("postoffice completions bash > ~/.local/share/bash-completion/completions/postoffice"),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    completing.add_argument("shell", choices=["bash", "zsh", "fish", "tcsh"])

    def run(options: Options) -> None:
        import shtab  # noqa: PLC0415

        print(shtab.complete(root, options["shell"]))

    completing.set_defaults(command=run)

"""Commands about files that agents reserve while they work on them."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from postoffice.cli import ids
from postoffice.cli.command import Command, Options, argument
from postoffice.cli.dates import span_of
from postoffice.cli.show import ahead, say, table
from postoffice.client.path import part

if TYPE_CHECKING:
    from rich.console import Console

    from postoffice.client.project import Project
    from postoffice.client.wire import Wire


async def reserve(wire: "Wire", options: Options) -> Any:
    """Reserve files."""
    project = _project(options)
    body: dict[str, Any] = {"project": project.name, "paths": _paths(project, options["paths"]), "why": options["why"] or ""}
    body |= {"exclusive": not options["shared"], "tell": options["tell"]}
    if options["span"] is not None:
        body["seconds"] = span_of(options["span"], "--for").total_seconds()
    return await wire.post("/reservations", body)


def _reserved(console: "Console", answer: Any) -> None:
    mode = "Reserved" if answer["exclusive"] else "Shared"
    say(console, f"{mode} by {answer['holder']}: {', '.join(answer['paths'])}. Ends {ahead(answer['until'])}: {ids.short(answer['id'])}")


async def release(wire: "Wire", options: Options) -> Any:
    """Release reserved files."""
    if options["id"] is not None:
        held = (await wire.get("/reservations"))["reservations"]
        matches = [one["id"] for one in held if one["id"].endswith(options["id"].lower())]
        ended = await wire.call("DELETE", f"/reservations/{part(matches[0] if len(matches) == 1 else options['id'])}")
        return {"reservations": [ended]}
    project = _project(options)
    wanted = {} if options["everything"] else {"project": project.name, "paths": _paths(project, options["paths"])}
    return await wire.post("/reservations/release", wanted)


def _released(console: "Console", answer: Any) -> None:
    paths = ", ".join(path for one in answer["reservations"] for path in one["paths"])
    say(console, f"Free now: {paths}." if paths else "Nothing of that was reserved.")


async def reservations(wire: "Wire", options: Options) -> Any:
    """List what is reserved now."""
    return await wire.get("/reservations", project=None if options["everything"] else _project(options).name)


def _reservations(console: "Console", answer: Any) -> None:
    held = answer["reservations"]
    rows = [
        (one["holder"], ", ".join(one["paths"]), "" if one["exclusive"] else "shared", ahead(one["until"]), one["why"], one["project"], id)
        for one, id in zip(held, ids.all_short(one["id"] for one in held), strict=True)
    ]
    columns = ("by", "files", "how", "ends", "says", "project", "reservation")
    table(console, columns, rows, "Nothing is reserved here. Reserve before you edit: postoffice reserve 'src/**' --why '…'")


def _project(options: Options) -> "Project":
    from postoffice.client.project import project_at  # noqa: PLC0415 - not needed for help

    return project_at(Path(options["project"] or "."))


def _paths(project: "Project", paths: list[str]) -> list[str]:
    """Paths counted from the project's root. They are given relative to the working folder, or to the folder in --project."""
    here = Path(os.path.realpath("."))
    return [project.path(path, here if here.is_relative_to(project.root) else project.root) for path in paths]


_PROJECT = argument("--project", metavar="FOLDER", help="a folder of the project (the one this is run in)")

COMMANDS = (
    Command(
        "reserve",
        "reserve files for a while: others' edits of them are refused",
        ("postoffice reserve 'src/pay/**' --for 2h --why 'moving to the new API'", "postoffice reserve docs --shared --as coder"),
        reserve,
        _reserved,
        (
            argument("paths", nargs="+", metavar="PATH", help="files, folders or globs, from here on"),
            argument("--for", dest="span", metavar="TIME", help="how long: 30m, 2h (1h; at most 12h)"),
            argument("--why", help="what you do there, shown to agents that are refused"),
            argument("--shared", action="store_true", help="share with others who also share; nobody can then reserve it alone"),
            argument("--tell", action="store_true", help="if it is refused: get a letter once it is free"),
            _PROJECT,
        ),
        in_window=True,
    ),
    Command(
        "release",
        "release reserved files; the owner may end any reservation by its id",
        ("postoffice release 'src/pay/**'", "postoffice release --everything --as coder", "postoffice release --id 3f2a"),
        release,
        _released,
        (
            argument("paths", nargs="*", metavar="PATH", help="the paths as they were reserved (all of this project)"),
            argument("--id", metavar="RESERVATION", help="one reservation by its id, or the end of it"),
            argument("--everything", action="store_true", help="in all projects"),
            _PROJECT,
        ),
        in_window=True,
    ),
    Command(
        "reservations",
        "list who has reserved which files",
        ("postoffice reservations", "postoffice reservations --everything --json"),
        reservations,
        _reservations,
        (argument("--everything", action="store_true", help="of all projects"), _PROJECT),
        in_window=True,
    ),
)

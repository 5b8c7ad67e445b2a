"""Files that letters carry: upload, save."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from postoffice.cli.command import Command, Options, argument
from postoffice.cli.show import say, table
from postoffice.client.path import part
from postoffice.core.attachment import Attachment
from postoffice.core.errors import BadSetting, NotFound
from postoffice.core.fence import one_line

if TYPE_CHECKING:
    from rich.console import Console

    from postoffice.client.attachments import Told
    from postoffice.client.wire import Wire

FILE = argument("--file", action="append", metavar="PATH", help="a file that it carries; more than once for several")


async def uploaded(wire: "Wire", paths: list[str] | None) -> list[dict[str, Any]]:
    """The files, uploaded, as a letter names them."""
    _check_files(paths or [])  # before any is uploaded
    return [msgspec.to_builtins(await _with_progress(wire, path)) for path in paths or ()]


def _check_files(paths: list[str]) -> None:
    for path in paths:
        if not Path(path).is_file():
            raise BadSetting(name="--file", why=f"there is no file {path!r}")


async def _with_progress(wire: "Wire", path: str) -> Attachment:
    from postoffice.client import attachments  # noqa: PLC0415 - help does without

    with progress(Path(path).name) as told:
        return await attachments.upload(wire, path, told=told)


@contextmanager
def progress(name: str) -> "Iterator[Told]":
    """How far it is, where a person looks on."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda _done, _of: None
        return
    from rich.console import Console  # noqa: PLC0415 - programs do without
    from rich.markup import escape  # noqa: PLC0415
    from rich.progress import Progress  # noqa: PLC0415

    with Progress(console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task(escape(one_line(name)), total=None)
        yield lambda done, of: shown.update(task, completed=done, total=max(of, 1))


async def upload(wire: "Wire", options: Options) -> Any:
    """Bring files, for a letter that is still to be written."""
    return {"attachments": await uploaded(wire, options["files"])}


def _uploads(console: "Console", answer: Any) -> None:
    rows = [(one["name"], one["type"], one["size"], one["digest"]) for one in answer["attachments"]]
    table(console, ("name", "type", "bytes", "digest"), rows, "Nothing was uploaded.")


async def save(wire: "Wire", options: Options) -> Any:
    """Save what a letter carries."""
    folder = _folder(options["to"])
    letter = (await wire.get(f"/messages/{part(options['message'])}/status"))["message"] or {}
    carried = msgspec.convert(letter.get("attachments", []), list[Attachment])
    wanted = [one for one in carried if options["name"] in (None, one.name)]
    if not wanted:
        raise NotFound(what="attachment of that letter", ref=options["name"] or options["message"])
    return {"message_id": letter["id"], "saved": [str(await _saved(wire, one, folder)) for one in wanted]}


def _folder(given: str) -> Path:
    if not (folder := Path(given)).is_dir():
        raise BadSetting(name="--to", why=f"there is no folder {given!r}")
    return folder


async def _saved(wire: "Wire", wanted: Attachment, folder: Path) -> Path:
    from postoffice.client import attachments  # noqa: PLC0415

    with progress(wanted.name) as told:
        return await attachments.save(wire, wanted, folder, told)


def _shown(console: "Console", answer: Any) -> None:
    for path in answer["saved"]:
        say(console, f"Saved {one_line(path)}.")


COMMANDS = (
    Command(
        "upload",
        "upload files, and print the digests by which a letter may carry them",
        ("postoffice upload report.pdf --as coder",),
        upload,
        _uploads,
        (argument("files", nargs="+", metavar="PATH", help="a file"),),
    ),
    Command(
        "save",
        "save what a letter carries",
        ("postoffice save 3fe348 --as bob", "postoffice save 3fe348 --to ~/Downloads --name report.pdf"),
        save,
        _shown,
        (
            argument("message", metavar="ID", help="a letter's id, or the end of it"),
            argument("--to", default=".", metavar="DIR", help="a folder (this one); nothing in it is written over"),
            argument("--name", metavar="FILE", help="only the one of this name"),
        ),
    ),
)

"""Reading and writing files so that nothing is followed, waited for or half done.

`at` is the descriptor of a folder that is held open: a name is then meant there, whatever stands at the folder's path by now.
"""

# These are asked for with every message, where making a Path costs more than the call it is made for.

import errno
import os
import stat
import sys
import time
from contextlib import suppress

from postoffice_files.errors import NotAMailbox, Unreadable

Where = str | os.PathLike[str]

_SAFE = (
    getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NOFOLLOW", 0)  # a link set in place of the file leads nowhere
    | getattr(os, "O_NONBLOCK", 0)  # a pipe does not keep us waiting
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_BINARY", 0)
)
_OPEN_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
FOLDER = "a folder"
_KINDS = {
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFDIR: FOLDER,
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}
_OURS = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM})
"""What we have too much or too little of for now; the file is as good as it was."""
_PIECE_BYTES = 64 * 1024
_REPLACE_TRIES = 50
"""Windows refuses to replace a file somebody is just reading; so many times we try again."""


def kind(status: os.stat_result) -> str | None:
    """What stands there instead of a file, or None if it is one."""
    return None if stat.S_ISREG(status.st_mode) else _KINDS.get(stat.S_IFMT(status.st_mode), "something that is not a file")


def print_of(status: os.stat_result) -> str:
    """What tells one file from another that was put under the same name."""
    return f"{status.st_mtime_ns}-{status.st_size}"


def split(path: Where) -> tuple[str, str]:
    """The folder something stands in, and its name there."""
    folder, name = os.path.split(path)
    return folder or os.curdir, name


def lstat(path: Where, *, at: int | None = None) -> os.stat_result | None:
    """What stands there, links not followed; None if nothing does."""
    try:
        return os.lstat(path, dir_fd=at)
    except (FileNotFoundError, NotADirectoryError):
        return None


def read(path: Where, limit: int, *, at: int | None = None) -> tuple[bytes, os.stat_result]:
    """A whole file. Raises FileNotFoundError, or Unreadable with the reason; OSError if it may well be read another time."""
    try:
        # Looked at before it is opened as well: merely opening some devices does something.
        if (what := kind(os.lstat(path, dir_fd=at))) is not None:
            raise Unreadable(why=f"it is {what}, not a file")
        descriptor = os.open(path, os.O_RDONLY | _SAFE, dir_fd=at)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise _at_fault(error, "opened") from None
    try:
        status = os.fstat(descriptor)
        if (what := kind(status)) is not None:
            raise Unreadable(why=f"it is {what}, not a file")
        if status.st_size > limit:
            raise Unreadable(why=f"it is {status.st_size} bytes, more than the {limit} allowed")
        # No more room than it says it needs and one byte, which stays empty; on to the end should it have grown since.
        data = os.read(descriptor, status.st_size + 1)
        while status.st_size != len(data) <= limit and (more := os.read(descriptor, min(limit + 1 - len(data), _PIECE_BYTES))):
            data += more
        if len(data) > limit:
            raise Unreadable(why=f"it is more than the {limit} bytes allowed")
    except OSError as error:
        raise _at_fault(error, "read") from None
    finally:
        os.close(descriptor)
    return data, status


def create(path: Where, data: bytes, *, sync: bool = False, at: int | None = None) -> None:
    """A new file, by whoever is first, or none if it cannot be written. Raises FileExistsError for everybody else."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _SAFE, 0o600, dir_fd=at)
    try:
        _write(descriptor, data)
        if sync:
            os.fsync(descriptor)
    except BaseException:
        with suppress(OSError):
            os.unlink(path, dir_fd=at)
        raise
    finally:
        os.close(descriptor)


def recreate(path: Where, data: bytes, spare: Where, token: str, *, at: int | None = None) -> None:
    """The same, out of a file that is no longer needed where there is one: what costs most is making files and removing them."""
    own = f"{spare}.{token}.tmp"
    try:
        os.rename(spare, own, src_dir_fd=at, dst_dir_fd=at)  # whoever comes to this has it for itself
        try:
            if _overwrite(own, data, at):
                link(own, path, at=at)
                return
        finally:
            with suppress(OSError):
                os.unlink(own, dir_fd=at)
    except FileExistsError:
        raise
    except OSError:  # nothing is spare, or the file system has no links
        pass
    create(path, data, at=at)


def publish(path: Where, data: bytes, token: str, *, sync: bool = True, sync_folder: bool = True, at: int | None = None) -> None:
    """Put a file in its place at once and whole: nobody ever sees half of it, not even after a power cut."""
    folder, _ = split(path)
    temporary = f"{folder}/.{token}.tmp"
    try:
        create(temporary, data, sync=sync, at=at)
        replace(temporary, path, at=at)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=at)
        raise
    if sync_folder:
        sync_directory(folder, at=at)


def replace(source: Where, target: Where, *, at: int | None = None) -> None:
    """Rename, over whatever was there."""
    for _ in range(_REPLACE_TRIES):
        try:
            os.replace(source, target, src_dir_fd=at, dst_dir_fd=at)
        except PermissionError:
            if sys.platform != "win32":
                raise
            time.sleep(0.01)
        else:
            return
    os.replace(source, target, src_dir_fd=at, dst_dir_fd=at)


def link(path: Where, other: Where, *, at: int | None = None) -> None:
    """Give a file a second name; a link gets none to what it leads to."""
    if at is None:
        os.link(path, other)
    else:
        os.link(path, other, src_dir_fd=at, dst_dir_fd=at, follow_symlinks=False)


def keep(path: Where, spare: Where) -> None:
    """Have what stands there under a second name as well; where that cannot be, under that name alone."""
    try:
        os.link(path, spare)
    except OSError:  # it is a folder, or the file system has no links
        replace(path, spare)


def sync_directory(path: Where, *, at: int | None = None) -> None:
    """Make a rename durable, where the system has a way to ask for it."""
    if sys.platform == "win32":
        return
    if at is not None:
        os.fsync(at)
        return
    descriptor = os.open(path, _OPEN_FOLDER)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def folder(path: Where, *, at: int | None = None) -> None:
    """Make sure that a real folder stands there."""
    status = lstat(path, at=at)
    if status is None:
        try:
            os.mkdir(path, mode=0o700, dir_fd=at)
        except FileExistsError:
            pass
        else:
            sync_directory(split(path)[0], at=at)
        status = os.lstat(path, dir_fd=at)
    if not stat.S_ISDIR(status.st_mode):
        raise NotAMailbox(path=path, what=kind(status) or "a file")


def _at_fault(error: OSError, done: str) -> OSError | Unreadable:
    """What stands against reading a file: we ourselves, or it."""
    return error if error.errno in _OURS else Unreadable(why=f"it cannot be {done}: {error.strerror}")


def _overwrite(path: str, data: bytes, at: int | None) -> bool:
    """Write over a file of the same length; False if it is none, or stands elsewhere under another name."""
    status = os.lstat(path, dir_fd=at)
    if kind(status) is not None or status.st_nlink != 1 or status.st_size != len(data):
        return False
    descriptor = os.open(path, os.O_WRONLY | _SAFE, dir_fd=at)
    try:
        _write(descriptor, data)
    finally:
        os.close(descriptor)
    return True


def _write(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]

"""Reads and writes files without following links, without waiting on pipes, and never by half.

`at` is the descriptor of an open folder: names are then relative to that very folder, even if its path leads elsewhere by now.
"""

# Used with every message, where making a Path would cost more than the call itself.

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
    | getattr(os, "O_NOFOLLOW", 0)  # a link in place of the file is not followed
    | getattr(os, "O_NONBLOCK", 0)  # a pipe does not block us
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
"""Errors about our own present resources. The file itself is fine."""
_PIECE_BYTES = 64 * 1024
_REPLACE_TRIES = 50
"""How often we try again if Windows refuses to replace a file that is being read."""


def kind(status: os.stat_result) -> str | None:
    """What is there instead of a file; None if it is a file."""
    return None if stat.S_ISREG(status.st_mode) else _KINDS.get(stat.S_IFMT(status.st_mode), "something that is not a file")


def print_of(status: os.stat_result) -> str:
    """Identifies a file, so that another one under the same name is noticed."""
    return f"{status.st_mtime_ns}-{status.st_size}"


def split(path: Where) -> tuple[str, str]:
    """A path's folder and its name in it."""
    folder, name = os.path.split(path)
    return folder or os.curdir, name


def lstat(path: Where, *, at: int | None = None) -> os.stat_result | None:
    """The status of what is there, links not followed; None if nothing is."""
    try:
        return os.lstat(path, dir_fd=at)
    except (FileNotFoundError, NotADirectoryError):
        return None


def read(path: Where, limit: int, *, at: int | None = None) -> tuple[bytes, os.stat_result]:
    """Read a whole file. Raises FileNotFoundError, Unreadable with the reason, or OSError if it may be readable later."""
    try:
        # Check before opening too, as merely opening some devices has an effect.
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
        # Room for its stated size and one byte more, which stays empty unless the file has grown since.
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
    """Create a file, or none if it cannot be written. If several try, all but the first get FileExistsError."""
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
    """The same, from a spare file if there is one, as making and removing files costs most."""
    own = f"{spare}.{token}.tmp"
    try:
        os.rename(spare, own, src_dir_fd=at, dst_dir_fd=at)  # only one process can succeed with this
        try:
            if _overwrite(own, data, at):
                link(own, path, at=at)
                return
        finally:
            with suppress(OSError):
                os.unlink(own, dir_fd=at)
    except FileExistsError:
        raise
    except OSError:  # there is no spare, or the file system has no links
        pass
    create(path, data, at=at)


def publish(path: Where, data: bytes, token: str, *, sync: bool = True, sync_folder: bool = True, at: int | None = None) -> None:
    """Put a whole file in its place at once: nobody ever sees half of it, not even after a power cut."""
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
    """Rename, replacing what was there."""
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
    """Give a file a second name. A link itself gets it, not what it leads to."""
    if at is None:
        os.link(path, other)
    else:
        os.link(path, other, src_dir_fd=at, dst_dir_fd=at, follow_symlinks=False)


def keep(path: Where, spare: Where) -> None:
    """Give what is there a second name or, if that is impossible, move it to that name."""
    try:
        os.link(path, spare)
    except OSError:  # it is a folder, or the file system has no links
        replace(path, spare)


def sync_directory(path: Where, *, at: int | None = None) -> None:
    """Make a rename durable, if the system has a way."""
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
    """Make sure that a real folder is there."""
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
    """Why a file cannot be read: an error of our own resources, or of the file."""
    return error if error.errno in _OURS else Unreadable(why=f"it cannot be {done}: {error.strerror}")


def _overwrite(path: str, data: bytes, at: int | None) -> bool:
    """Write over a file of the same length; False if it is not such a file, or has a second name."""
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

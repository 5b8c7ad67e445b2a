"""Parts kept as objects: in a folder, or in an object store elsewhere."""

import asyncio
import errno
import os
import shutil
from collections.abc import Awaitable, Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from postoffice.core.errors import AttachmentGone, BadSetting, DepotLost, DiskFull, why

if TYPE_CHECKING:
    from obstore.store import ObjectStore

# The library is imported where it is first wanted: it is large, and most offices never keep an attachment.

T = TypeVar("T")
_SCHEMES = ("s3", "gs", "az")


class ObjectDepot:
    """Objects in a store, which is opened when it is first wanted."""

    def __init__(self, open: Callable[[], "ObjectStore"]) -> None:
        self._open = open

    @cached_property
    def _objects(self) -> "ObjectStore":
        return self._open()

    async def put(self, upload: str, name: str, data: bytes) -> None:
        await _answered(self._objects.put_async(_key(upload, name), data, use_multipart=False))

    async def read(self, upload: str, name: str, begin: int, size: int) -> bytes:
        try:
            return bytes(await _answered(self._objects.get_range_async(_key(upload, name), start=begin, length=size)))
        except FileNotFoundError:
            raise AttachmentGone(digest=f"upload {upload}") from None

    async def delete(self, upload: str) -> None:
        found = self._objects.list(f"{upload}/")
        while objects := await _answered(found.__anext__(), over=[]):
            await _answered(self._objects.delete_async([one["path"] for one in objects]))


class FolderDepot:
    """A folder of this machine, made with the first part. What is put there is on disk before anybody hears of it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._objects = ObjectDepot(self._open)

    def _open(self) -> "ObjectStore":
        from obstore.store import LocalStore  # noqa: PLC0415

        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return LocalStore(self._folder)

    async def put(self, upload: str, name: str, data: bytes) -> None:
        try:
            await self._objects.put(upload, name, data)
            await asyncio.to_thread(_on_disk, self._folder, upload, name)
        except OSError as error:
            raise _trouble(error) from None

    async def read(self, upload: str, name: str, begin: int, size: int) -> bytes:
        return await self._objects.read(upload, name, begin, size)

    async def delete(self, upload: str) -> None:
        try:
            await asyncio.to_thread(shutil.rmtree, self._folder / upload)
        except FileNotFoundError:
            return  # nothing ever came, or it was deleted before
        except OSError as error:
            raise _trouble(error) from None


def object_depot(address: str) -> ObjectDepot:
    """An object store by its address, like `s3://bucket/path`, `gs://bucket/path` or `az://account/container`. Its keys come from the environment."""
    if address.partition("://")[0] not in _SCHEMES:
        raise BadSetting(name="attachments", why="it is a folder, or an address like s3://bucket/path, gs://… or az://…")
    from obstore.exceptions import BaseError  # noqa: PLC0415
    from obstore.store import from_url  # noqa: PLC0415

    try:
        objects = from_url(address)
    except (BaseError, ValueError) as error:
        raise BadSetting(name="attachments", why=why(error)) from None
    return ObjectDepot(lambda: objects)


def _key(upload: str, name: str) -> str:
    """Both are the office's own words: nothing from outside is ever in a path."""
    return f"{upload}/{name}"


async def _answered(call: Awaitable[T], over: T | None = None) -> T:
    """What the store answers; `over` where that was the end of a list."""
    from obstore.exceptions import BaseError  # noqa: PLC0415

    try:
        return await call
    except StopAsyncIteration:
        assert over is not None  # only lists end
        return over
    except BaseError as error:
        if os.strerror(errno.ENOSPC) in str(error) or os.strerror(errno.EDQUOT) in str(error):
            raise DiskFull from None
        raise DepotLost(why=why(error)) from None


def _trouble(error: OSError) -> DiskFull | DepotLost:
    return DiskFull() if error.errno in (errno.ENOSPC, errno.EDQUOT) else DepotLost(why=why(error))


def _on_disk(folder: Path, upload: str, name: str) -> None:
    """A file, its folder's entry for it, and with the first file the entry for that folder."""
    own = folder / upload
    first = (folder,) if len(os.listdir(own)) == 1 else ()  # noqa: PTH208 - no paths are made of them
    for path in (own / name, own, *first):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

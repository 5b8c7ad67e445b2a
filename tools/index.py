"""A package index: which files of a package it lists, when they came, and which were taken back."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterable
from datetime import datetime
from html.parser import HTMLParser
from typing import Any

import httpx2
import msgspec
from packaging.utils import InvalidSdistFilename, InvalidWheelFilename, parse_sdist_filename, parse_wheel_filename
from packaging.version import Version

_DEFAULT = "https://pypi.org/simple"
_ACCEPTED = "application/vnd.pypi.simple.v1+json, text/html;q=0.5"
_AT_ONCE = 8
_PATIENCE_SECONDS = 20.0


class File(msgspec.Struct, frozen=True):
    """One file of a package."""

    version: Version
    uploaded: datetime | None
    yanked: bool


class _Links(HTMLParser):
    """The files that an index lists as HTML."""

    def __init__(self) -> None:
        super().__init__()
        self.files: list[dict[str, Any]] = []
        self._attributes: dict[str, str | None] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._attributes = dict(attrs) if tag == "a" else None

    def handle_data(self, data: str) -> None:
        if self._attributes is not None:
            said = {"upload-time": self._attributes.get("data-upload-time"), "yanked": "data-yanked" in self._attributes}
            self.files.append({"filename": data.strip(), **said})
            self._attributes = None


def read(body: str, *, json: bool) -> list[File]:
    """The files of one listing, without those that are no release."""
    if json:
        listing = msgspec.json.decode(body)["files"]
    else:
        links = _Links()
        links.feed(body)
        listing = links.files
    found = []
    for file in listing:
        name = file["filename"]
        try:
            version = parse_wheel_filename(name)[1] if name.endswith(".whl") else parse_sdist_filename(name)[1]
        except (InvalidWheelFilename, InvalidSdistFilename):
            continue
        uploaded = datetime.fromisoformat(file["upload-time"]) if file.get("upload-time") else None
        found.append(File(version, uploaded, file.get("yanked", False) is not False))
    return found


def address() -> str:
    """The index that pip is told to use. It may hold a password: it is never printed."""
    command = [sys.executable, "-m", "pip", "config", "get", "global.index-url"]
    told = os.environ.get("PIP_INDEX_URL") or subprocess.run(command, capture_output=True, text=True, check=False).stdout  # noqa: S603
    return told.strip().rstrip("/") or _DEFAULT


async def files_of(names: Iterable[str]) -> dict[str, list[File]]:
    """What the index lists of each package; nothing for one that it does not answer about."""
    gate, base = asyncio.Semaphore(_AT_ONCE), address()

    async def ask(client: httpx2.AsyncClient, name: str) -> tuple[str, list[File]]:
        async with gate:
            try:
                answer = (await client.get(f"{base}/{name}/", headers={"Accept": _ACCEPTED})).raise_for_status()
            except httpx2.HTTPError:
                return name, []
            return name, read(answer.text, json="json" in answer.headers.get("content-type", ""))

    async with httpx2.AsyncClient(timeout=_PATIENCE_SECONDS, follow_redirects=True) as client:
        return dict(await asyncio.gather(*(ask(client, name) for name in names)))

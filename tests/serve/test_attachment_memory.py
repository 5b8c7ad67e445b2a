"""Large attachments pass through a real server, and its memory hardly grows."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import psutil
import pytest

from tests.runner.office import Office
from tests.serve.running import PATIENCE

_MEGABYTE = 1 << 20
_SIZE = 200 * _MEGABYTE
_BLOCK = bytes(range(256)) * 4096


@pytest.fixture
def office(tmp_path: Path) -> Iterator[Office]:
    opened = Office(tmp_path)
    opened.start()
    yield opened
    opened.close()


def blocks() -> Iterator[bytes]:
    for _ in range(_SIZE // len(_BLOCK)):
        yield _BLOCK


def test_200_megabytes_up_and_down_raise_it_by_less_than_20(office: Office) -> None:
    office.send("alice", "bob")
    assert office._process is not None
    memory = psutil.Process(office._process.pid).memory_info
    before = highest = memory().rss
    with httpx.Client(base_url=office.url, headers={"X-Agent": "alice"}, timeout=PATIENCE, trust_env=False) as http:

        def watched() -> Iterator[bytes]:
            nonlocal highest
            for block in blocks():
                yield block
                highest = max(highest, memory().rss)

        digest = http.post("/attachments", content=watched()).raise_for_status().json()["digest"]
        fetched = 0
        with http.stream("GET", f"/attachments/{digest}") as answer:
            for chunk in answer.iter_raw(_MEGABYTE):
                fetched += len(chunk)
                highest = max(highest, memory().rss)
    assert fetched == _SIZE
    assert highest - before < 20 * _MEGABYTE

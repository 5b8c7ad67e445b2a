"""Attachments kept in an object store: somebody else's, which speaks the protocol of S3."""

import hashlib
import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.runner.office import Office, until
from tests.serve.running import PATIENCE, free_port

_MOTO = Path(".venv-moto/bin/moto_server").absolute()
_BUCKET = "postoffice-test"
DATA = os.urandom(5_000_000)
DIGEST = f"sha256:{hashlib.sha256(DATA).hexdigest()}"


@pytest.fixture(scope="module")
def store() -> Iterator[str]:
    """The address of an object store with one bucket."""
    if not _MOTO.exists():
        (pytest.fail if os.environ.get("CI") else pytest.skip)("make peers makes .venv-moto")
    port = free_port()
    process = subprocess.Popen([_MOTO, "-p", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until(lambda: _listens(port))
        url = f"http://127.0.0.1:{port}"
        httpx.put(f"{url}/{_BUCKET}", timeout=PATIENCE, trust_env=False).raise_for_status()
        yield url
    finally:
        process.terminate()
        process.wait(PATIENCE)


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def objects(store: str) -> int:
    """How many there are."""
    return httpx.get(f"{store}/{_BUCKET}", timeout=PATIENCE, trust_env=False).text.count("<Key>")


@pytest.fixture
def office(store: str, tmp_path: Path) -> Iterator[Office]:
    keys = {"AWS_ENDPOINT": store, "AWS_ALLOW_HTTP": "true", "AWS_REGION": "us-east-1"}
    keys |= {"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x", "POSTOFFICE_ATTACHMENTS": f"s3://{_BUCKET}/mail"}
    opened = Office(tmp_path, **keys)
    opened.start()
    yield opened
    opened.close()


def test_bytes_are_kept_there_over_a_kill_and_gone_when_nobody_needs_them(office: Office, store: str) -> None:
    with httpx.Client(base_url=office.url, headers={"X-Agent": "ann"}, timeout=PATIENCE, trust_env=False) as ann:
        begun = ann.post("/attachments/uploads", json={"size": len(DATA), "name": "big", "digest": DIGEST}).raise_for_status().json()
        path = f"/attachments/uploads/{begun['id']}"
        ann.patch(path, content=DATA[:3_000_000], headers={"Upload-Offset": "0"}).raise_for_status()
        office.kill()
        office.start()
        ann.patch(path, content=DATA[3_000_000:], headers={"Upload-Offset": "3000000"}).raise_for_status()
        office.send("ann", "bob", attachments=[{"digest": DIGEST}])
        fetched = ann.get(f"/attachments/{DIGEST}", headers={"X-Agent": "bob"})
        assert fetched.content == DATA
        part = ann.get(f"/attachments/{DIGEST}", headers={"X-Agent": "bob", "Range": "bytes=2999990-3000009"})
        assert part.content == DATA[2_999_990:3_000_010]
        assert not (office.here / "data" / "attachments").exists()
        kept = objects(store)
        assert kept >= 3
        assert ann.post("/attachments", content=DATA).raise_for_status().json()["digest"] == DIGEST
        until(lambda: objects(store) == kept)  # what came twice is kept once

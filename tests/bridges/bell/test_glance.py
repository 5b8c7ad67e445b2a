"""A file is read again once it has changed, and not before."""

import os
import time
from pathlib import Path

from postoffice.bridges.bell.glance import glance


def test_a_file_that_stays_is_read_once_and_one_that_changes_again(tmp_path: Path) -> None:
    read: list[bytes] = []

    def parse(content: bytes) -> bytes:
        read.append(content)
        return content

    path = tmp_path / "status"
    path.write_bytes(b"idle")
    assert glance(path, parse) == b"idle"
    time.sleep(0.2)
    assert [glance(path, parse) for _ in range(5)] == [b"idle"] * 5
    assert len(read) == 2, "what was just written may change within the same tick; what has stayed is not read again"
    path.write_bytes(b"busy")
    os.utime(path, (1, 1))
    assert glance(path, parse) == b"busy", "neither its length nor the time it says has to differ"
    path.unlink()
    assert glance(path, parse) is None

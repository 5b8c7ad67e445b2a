"""Attachments through a real server, in turn with a copy of the same bytes from file to file, which is synced as well."""

import hashlib
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

import httpx2
import msgspec

from bench.house import House, our_house
from bench.plan import Plan
from bench.scratch import progress, scratch

COPY = "copy a file, synced"
_MEGABYTE = 1 << 20
_PATIENCE = 600.0


class Transfer(msgspec.Struct, frozen=True):
    """The same bytes, one way: the median of some rounds."""

    way: str
    megabytes: int
    per_second: float
    """Megabytes."""
    cpu_millis: float
    """Of the server for each 100 megabytes; of the copy, its own."""
    grown: float
    """Megabytes by which the server's memory had grown at the end."""


def measure_attachments(plan: Plan) -> list[Transfer]:
    """Up, down and the copy, one after the other in each round."""
    with scratch() as folder, our_house("attachments", folder) as house:
        source = folder / "source"
        with source.open("wb") as file:
            for _ in range(plan.megabytes):
                file.write(os.urandom(_MEGABYTE))
        digest = f"sha256:{hashlib.sha256(source.read_bytes()).hexdigest()}"
        with httpx2.Client(base_url=f"http://127.0.0.1:{house.port}", headers={"X-Agent": "bench"}, timeout=_PATIENCE) as http:
            http.get("/agents")
            works: dict[str, tuple[Callable[[], object], Callable[[], float]]] = {
                COPY: (lambda: _copy(source, folder / "copy"), time.process_time),
                "upload": (lambda: http.post("/attachments", content=_pieces(source)).raise_for_status(), house.cpu),
                "download": (lambda: _fetch(http, digest), house.cpu),
            }
            return _measured(house, works, plan)


def _measured(house: House, works: dict[str, tuple[Callable[[], object], Callable[[], float]]], plan: Plan) -> list[Transfer]:
    before = house.resident()
    taken: dict[str, list[tuple[float, float]]] = {way: [] for way in works}
    for number in range(plan.rounds):
        progress(f"attachments of {plan.megabytes} MB, round {number + 1} of {plan.rounds}")
        for way, (work, clock) in works.items():
            cpu, began = clock(), time.perf_counter()
            work()
            taken[way].append((time.perf_counter() - began, clock() - cpu))
    grown = (house.resident() - before) / _MEGABYTE
    return [
        Transfer(
            way,
            plan.megabytes,
            plan.megabytes / median(seconds for seconds, _ in samples),
            median(cpu for _, cpu in samples) * 1e5 / plan.megabytes,
            0.0 if way == COPY else grown,
        )
        for way, samples in taken.items()
    ]


def _pieces(source: Path) -> Iterator[bytes]:
    with source.open("rb") as file:
        while piece := file.read(_MEGABYTE):
            yield piece


def _copy(source: Path, target: Path) -> None:
    with target.open("wb") as file:
        for piece in _pieces(source):
            file.write(piece)
        file.flush()
        os.fsync(file.fileno())
    target.unlink()


def _fetch(http: httpx2.Client, digest: str) -> None:
    with http.stream("GET", f"/attachments/{digest}") as answer:
        answer.raise_for_status()
        for _ in answer.iter_raw():
            pass

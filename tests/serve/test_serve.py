"""`postoffice serve` as a user meets it, in a process of its own."""

import json
import shlex
import signal
import socket
import stat
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from postoffice.config import Settings
from postoffice.serve.run import web_server
from postoffice.store.migrations.upgrade import HEAD
from tests.engines import PostgresServer
from tests.serve.running import ANEW, COMMAND, PATIENCE, environment, free_port, run, serving


def serve(port: int, *arguments: str, command: tuple[str, ...] = COMMAND) -> tuple[str, ...]:
    return (*command, "serve", "--port", str(port), *arguments)


def test_it_answers_health_and_stops_when_told(tmp_path: Path) -> None:
    port = free_port()
    with serving(*serve(port, "--data", "kept", command=ANEW), port=port, here=tmp_path) as server:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=PATIENCE) as answer:
            assert json.load(answer)["status"] == "ok"
        server.send_signal(signal.SIGTERM)
        out, err = server.communicate(timeout=PATIENCE)
    assert server.returncode == 0
    assert out == ""
    opened, *hints = err.splitlines()
    assert opened == f"Postoffice is open on http://127.0.0.1:{port} (mail in kept/mailbox.db). Ctrl-C closes it."
    assert f"http://127.0.0.1:{port}/mail/NAME" in " ".join(hints)


def test_it_needs_none_of_its_extras(tmp_path: Path) -> None:
    port = free_port()
    extras = ("asyncpg", "greenlet", "postoffice_files", "watchfiles", "hiero_sdk_python", "nats", "opentelemetry.sdk")
    plain = f"import sys; sys.modules |= dict.fromkeys({extras}); from postoffice.cli.main import main; sys.exit(main())"
    command = (sys.executable, "-W", "error", "-c", plain, "serve", "--port", str(port), "--data", "kept")
    with serving(*command, port=port, here=tmp_path):  # which answers once its mail is there
        assert (tmp_path / "kept" / "mailbox.db").exists()


def test_the_letter_it_proposes_is_sent_as_printed(tmp_path: Path) -> None:
    port = free_port()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    with serving(*serve(port, "--data", "kept here"), port=port, here=tmp_path) as server:
        assert server.stderr is not None
        told = next(line for line in server.stderr if "send it a letter" in line)
        pasted = told.removeprefix("  send it a letter")
        sent = subprocess.run(
            pasted, shell=True, cwd=elsewhere, env=environment(), capture_output=True, text=True, timeout=PATIENCE, check=True
        )
    assert json.loads(sent.stdout)["message_id"]


def test_ctrl_c_closes_it_without_a_traceback(tmp_path: Path) -> None:
    port = free_port()
    with serving(*serve(port, "--data", "kept", command=ANEW), port=port, here=tmp_path) as server:
        server.send_signal(signal.SIGINT)
        _, err = server.communicate(timeout=PATIENCE)
    assert server.returncode in (0, 130)
    assert "Traceback" not in err


def test_a_stop_does_not_wait_for_the_rest_of_a_request(tmp_path: Path) -> None:
    port = free_port()
    with serving(*serve(port, "--data", "kept"), port=port, here=tmp_path) as server, socket.create_connection(("127.0.0.1", port)) as half:
        head = f"POST /messages/send HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nX-Agent: a\r\nContent-Type: application/json\r\nContent-Length: 99\r\n"
        half.sendall(head.encode() + b'\r\n{"to"')
        urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=PATIENCE)  # by now it is being read
        server.send_signal(signal.SIGTERM)
        _, err = server.communicate(timeout=PATIENCE)
    assert server.returncode == 0
    assert "error" not in err


def test_whoever_hangs_up_on_several_requests_at_once_is_no_fault(tmp_path: Path) -> None:
    port = free_port()
    with serving(*serve(port, "--data", "kept"), port=port, here=tmp_path) as server:
        with socket.create_connection(("127.0.0.1", port)) as hasty:
            for name in ("ann", "bea", "cat"):
                head = f"POST /messages/wait HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nX-Agent: {name}\r\nContent-Type: application/json\r\n"
                hasty.sendall(f'{head}Content-Length: 11\r\n\r\n{{"wait":20}}'.encode())
            while b"waiters 1.0" not in (found := urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=PATIENCE).read()):
                assert b"postoffice_waiters" in found
        while b"postoffice_waiters 0.0" not in urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=PATIENCE).read():
            pass
        server.send_signal(signal.SIGTERM)
        _, err = server.communicate(timeout=PATIENCE)
    assert "error" not in err
    assert "agent=bea" not in err


def test_an_interrupt_while_it_is_being_loaded_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(
        "import os, signal, sys\n"
        "class Finder:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'postoffice.cli.mail': os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Finder())\n"
        "from postoffice.cli.entrance import enter\n"
        "sys.exit(enter())\n"
    )
    ended = subprocess.run([sys.executable, "slow.py"], cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "")


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_it_serves_though_its_streams_are_closed(tmp_path: Path, closed: str) -> None:
    port = free_port()
    words = shlex.join(serve(port, "--data", "kept"))
    with serving("bash", "-c", f"exec {words} {closed}", port=port, here=tmp_path) as server:
        server.send_signal(signal.SIGTERM)
        assert server.wait(PATIENCE) == 0


def test_the_owners_key_is_the_owners_alone_and_made_once(tmp_path: Path) -> None:
    port = free_port()
    keys = []
    for _ in range(2):
        with serving(*serve(port, "--data", "kept"), port=port, here=tmp_path) as server:
            server.send_signal(signal.SIGTERM)
            _, err = server.communicate(timeout=PATIENCE)
        path = tmp_path / "kept" / "owner.key"
        keys.append(path.read_text().strip())
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        assert keys[0] not in err
    assert keys[0] == keys[1]
    assert keys[0].startswith("amb_")


def test_data_lives_in_the_platforms_user_data_directory(tmp_path: Path) -> None:
    port = free_port()
    extra = {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / "share")}
    with serving(*serve(port, command=ANEW), port=port, here=tmp_path, extra=extra):
        pass
    assert [path.parent.name for path in tmp_path.rglob("mailbox.db")] == ["postoffice"]


@pytest.mark.parametrize("way", ["environment", ".env", "toml", "config"])
def test_a_setting_may_come_from_anywhere(tmp_path: Path, way: str) -> None:
    port = free_port()
    extra: dict[str, str] = {}
    flags: tuple[str, ...] = ()
    if way == "environment":
        extra = {"POSTOFFICE_PORT": str(port), "POSTOFFICE_DATA": "kept"}
    elif way == ".env":
        (tmp_path / ".env").write_text(f"POSTOFFICE_PORT={port}\nPOSTOFFICE_DATA=kept\nSECRET_KEY=change-me\n")
    else:
        name = "postoffice.toml" if way == "toml" else "other.toml"
        (tmp_path / name).write_text(f'port = {port}\ndata = "kept"\nmax_attempts = 3\n')
        flags = ("--config", name) if way == "config" else ()
    with serving(*COMMAND, "serve", *flags, port=port, here=tmp_path, extra=extra):
        assert (tmp_path / "kept" / "mailbox.db").exists()


@pytest.mark.parametrize("style", ["console", "json"])
def test_a_variable_that_is_no_setting_is_told_and_does_not_stop_the_start(tmp_path: Path, style: str) -> None:
    port = free_port()
    extra = {"POSTOFFICE_PROT": "9000", "POSTOFFICE_SERVER": "http://127.0.0.1:9000"}
    (tmp_path / ".env").write_text("POSTOFFICE_XYZZY=1\nPOSTGRES_PASSWORD=1\n")
    with serving(*serve(port, "--data", "kept", "--log-format", style), port=port, here=tmp_path, extra=extra) as server:
        server.send_signal(signal.SIGTERM)
        _, err = server.communicate(timeout=PATIENCE)
    told = [json.loads(line)["event"] if style == "json" else line for line in err.splitlines()]
    slips = [line for line in told if "is not a setting" in line]
    assert len(slips) == 2
    assert slips[0].endswith("POSTOFFICE_PROT is not a setting of postoffice; did you mean POSTOFFICE_PORT?")
    assert slips[1].endswith("POSTOFFICE_XYZZY in .env is not a setting of postoffice; docs/settings.md has them all")


def test_commands_on_the_mail_tell_it_too(tmp_path: Path) -> None:
    extra = {"POSTOFFICE_DATBASE": "postgresql://a/b", "POSTOFFICE_DATA": "kept"}
    told = "postoffice: POSTOFFICE_DATBASE is not a setting of postoffice; did you mean POSTOFFICE_DATABASE?\n"
    for words in (("migrate",), ("backup", "mail.backup"), ("restore", "mail.backup", "--data", "new")):
        done = run(*words, here=tmp_path, extra=extra)
        assert (done.returncode, done.stderr) == (0, told)


@pytest.mark.parametrize("migrated", [False, True])
def test_nobody_else_can_read_the_mail_though_its_folder_is_open(tmp_path: Path, *, migrated: bool) -> None:
    (tmp_path / "kept").mkdir(mode=0o755)
    if migrated:
        assert run("migrate", "--data", "kept", here=tmp_path).returncode == 0
    port = free_port()
    with serving(*serve(port, "--data", "kept"), port=port, here=tmp_path):
        files = [tmp_path / "kept" / name for name in ("mailbox.db", "mailbox.db-wal", "mailbox.db.lock", "owner.key")]
        assert [stat.S_IMODE(file.stat().st_mode) for file in files] == [0o600] * 4


def test_a_port_in_use_is_told_in_one_line(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        ended = run("serve", "--port", str(port), "--data", "kept", here=tmp_path)
    assert ended.returncode == 69
    assert ended.stderr.count("\n") == 1
    assert f"Cannot listen on 127.0.0.1:{port}" in ended.stderr


def test_a_second_server_on_the_same_mail_is_told_who_has_it(tmp_path: Path) -> None:
    port = free_port()
    with serving(*serve(port, "--data", "kept", command=ANEW), port=port, here=tmp_path) as server:
        ended = run("serve", "--port", "0", "--data", "kept", here=tmp_path)
    assert ended.returncode == 69
    assert f"(process {server.pid})" in ended.stderr
    assert ended.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("serve", "--prot", "1"), 2, "unrecognized arguments: --prot 1"),
        (("serve", "--port", "many"), 2, "invalid int value: 'many'"),
        (("serve", "--port", "99999"), 65, "The setting port is wrong"),
        (("serve", "--host", "no.such.host.invalid"), 69, "choose another --host or --port"),
        (("serve", "--host", "127.0.0..1", "--auth", "keys"), 69, "choose another --host or --port"),
        (("serve", "--port", "0", "--data", "file/below"), 69, "cannot be written"),
        (("serve", "--config", "missing.toml"), 65, "missing.toml"),
        (("serve", "--config", "file"), 65, "The setting config (file) is wrong"),
        (("serve", "--schema", "a; drop"), 65, "The setting schema is wrong"),
        (("serve", "--port", "0", "--database", "postgresql://nobody@127.0.0.1:1/none"), 69, "The database does not answer"),
        (("migrate", "--database", "postgresql://nobody@127.0.0.1:1/none"), 69, "The migration failed and changed nothing"),
        (("post",), 2, "there is no command 'post'"),
    ],
)
def test_what_cannot_be_is_told_in_one_line(tmp_path: Path, arguments: tuple[str, ...], code: int, said: str) -> None:
    (tmp_path / "file").write_text("neither a folder = nor [TOML")
    ended = run(*arguments, here=tmp_path)
    assert said in ended.stderr
    assert ended.stderr.count("\n") == 1
    assert ended.returncode == code


def test_plain_uvicorn_boots_it_without_a_warning(tmp_path: Path) -> None:
    port = free_port()
    command = (sys.executable, "-W", "error", "-m", "uvicorn", "postoffice.serve.asgi:app", "--port", str(port))
    with serving(*command, port=port, here=tmp_path, extra={"POSTOFFICE_DATA": "kept"}) as server:
        server.send_signal(signal.SIGTERM)
        _, err = server.communicate(timeout=PATIENCE)
    assert [line for line in err.splitlines() if not line.startswith("INFO:")] == []


async def test_postgresql_is_migrated_by_command_and_served(tmp_path: Path, postgres: PostgresServer) -> None:
    url = (await postgres.empty()).replace("postgresql://", "postgresql+asyncpg://", 1)
    extra = {"DATABASE_URL": url, "POSTOFFICE_DATA": "kept"}
    refused = run("serve", "--port", "0", here=tmp_path, extra=extra)
    assert refused.returncode == 69
    assert "run `postoffice migrate`" in refused.stderr
    migrated = run("migrate", here=tmp_path, extra=extra)
    assert (migrated.returncode, migrated.stdout) == (0, f"the database has schema {HEAD}\n")
    port = free_port()
    with serving(*serve(port), port=port, here=tmp_path, extra=extra):
        assert not (tmp_path / "kept" / "mailbox.db").exists()


def test_a_damaged_database_is_told_with_what_mends_it_and_not_to_try_again(tmp_path: Path) -> None:
    (tmp_path / "mailbox.db").write_bytes(b"no database " * 1000)
    done = run("serve", "--data", str(tmp_path), "--port", str(free_port()), here=tmp_path)
    assert done.returncode == 69
    assert "damaged (file is not a database)" in done.stderr
    assert "postoffice restore" in done.stderr
    assert "try again" not in done.stderr


@pytest.mark.parametrize(
    ("proxy", "peer", "caller"),
    [
        ("10.0.0.7", "10.0.0.7", "192.0.2.1"),
        ("10.0.0.7", "::ffff:10.0.0.7", "192.0.2.1"),
        ("10.0.0.0/24", "::ffff:10.0.0.9", "192.0.2.1"),
        ("10.0.0.0/255.255.255.0", "::ffff:10.0.0.9", "192.0.2.1"),
        ("10.0.0.0/24", "::ffff:10.0.1.9", "::ffff:10.0.1.9"),
        ("fd00::/8", "fd00::1", "192.0.2.1"),
        ("fd00::/8", "::ffff:10.0.0.7", "::ffff:10.0.0.7"),
        ("*", "::ffff:10.0.0.7", "192.0.2.1"),
    ],
)
async def test_a_proxy_is_believed_by_its_address_also_where_ipv6_is_listened_on(proxy: str, peer: str, caller: str) -> None:
    heard: list[str] = []

    async def app(scope: Any, _: Any, __: Any) -> None:
        heard.append(scope["client"][0])

    config = web_server(app, Settings(trusted_proxies=(proxy,))).config  # type: ignore[arg-type]  # all that is asked of it here
    config.load()
    headers = [(b"x-forwarded-for", b"192.0.2.1")]
    await config.loaded_app({"type": "http", "scheme": "http", "client": (peer, 1), "headers": headers}, None, None)
    assert heard == [caller]


def test_an_open_office_says_who_its_owner_is_and_the_way_out_works_as_printed(tmp_path: Path) -> None:
    port = free_port()
    with serving(*serve(port, "--data", "kept"), port=port, here=tmp_path) as server:
        server.send_signal(signal.SIGTERM)
        _, err = server.communicate(timeout=PATIENCE)
    (told,) = (line for line in err.splitlines() if "every user of this machine is its owner" in line)
    words = shlex.split(told.partition("keys: ")[2])
    assert words[-3:] == ["serve", "--auth", "keys"]
    named = dict(word.split("=", 1) for word in words if word.startswith("POSTOFFICE_"))
    with serving(*serve(port, "--auth", "keys"), port=port, here=tmp_path, extra=named) as server:
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{port}/inbox", headers={"X-Agent": "owner"}), timeout=PATIENCE)
        server.send_signal(signal.SIGTERM)
        _, err = server.communicate(timeout=PATIENCE)
    assert "every user" not in err

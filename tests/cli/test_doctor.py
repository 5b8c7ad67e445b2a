"""The doctor finds what is wrong, and says what to do."""

import json
import os
import shlex
import shutil
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import pytest

from postoffice import __version__
from tests.cli.fake_office import answering
from tests.cli.home import Home, Office
from tests.serve.running import COMMAND, free_port

OURS = {"name": "postoffice", "version": __version__, "auth": "open"}


def examined(home: Home, *words: str, extra: Mapping[str, str] | None = None, under: tuple[str, ...] = ()) -> dict[str, tuple[str, str]]:
    """What is wrong, each with how it was found and what to do."""
    done = home.run("doctor", *words, extra=extra, under=under)
    assert done.stderr == ""
    findings = json.loads(done.stdout)["findings"]
    wrong = {finding["what"]: (finding["found"], finding["fix"]) for finding in findings if finding["is"] == "wrong"}
    assert done.returncode == (1 if wrong else 0)
    return wrong


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data directory as a server leaves it."""
    folder = tmp_path / "data"
    folder.mkdir(mode=0o700)
    key = folder / "owner.key"
    key.touch(mode=0o600)
    key.write_text("amb_1\n")
    with closing(sqlite3.connect(folder / "mailbox.db")) as database:
        database.execute("CREATE TABLE mailboxes (agent)")
        database.executemany("INSERT INTO mailboxes VALUES (?)", [(f"agent-{number}",) for number in range(2000)])
        database.commit()
    return folder


class TestAtHome:
    def test_nothing_is_wrong_where_nothing_is(self, home: Home, data: Path) -> None:
        (coder,) = home.names("coder")
        home.ask("register", coder)
        assert examined(home, "--as", coder) == {}
        assert examined(home, "--as", coder, "--data", str(data)) == {}

    def test_a_client_that_an_earlier_setup_pointed_at_the_address_that_takes_mail_for_good(self, home: Home, tmp_path: Path) -> None:
        person = tmp_path / "person"
        (person / ".cursor").mkdir(parents=True)
        at = {"url": "http://127.0.0.1:8787/agents/coder/mcp"}
        entries = {"post": at, "other": {"url": f"{at['url']}?tools=queue"}, "new": {"url": "http://127.0.0.1:8787/mail/coder"}}
        (person / ".cursor" / "mcp.json").write_text(json.dumps({"mcpServers": entries}))
        (found, fix) = examined(home, extra={"HOME": str(person)})["setup"]
        assert "~/.cursor/mcp.json points Cursor at an older address" in found
        assert fix == "postoffice setup cursor --agent coder --name post"
        home.run(*shlex.split(fix)[1:], "--yes", extra={"HOME": str(person)})
        assert "setup" not in examined(home, extra={"HOME": str(person)})

    def test_one_that_its_own_command_pointed_there_is_moved_over_too(self, home: Home, tmp_path: Path) -> None:
        person = tmp_path / "person"
        (person / ".gemini").mkdir(parents=True)
        settings = person / ".gemini" / "settings.json"
        settings.write_text(json.dumps({"mcpServers": {"mail": {"httpUrl": "http://127.0.0.1:8787/agents/coder/mcp"}}}))
        (found, fix) = examined(home, extra={"HOME": str(person)})["setup"]
        assert "Gemini CLI at an older address" in found
        home.run(*shlex.split(fix)[1:], "--yes", extra={"HOME": str(person)})
        (entry,) = json.loads(settings.read_text())["mcpServers"].values()
        assert [value for value in entry.values() if "/agents/" in str(value)] == []
        assert any("/mail/coder" in str(value) for value in entry.values())

    def test_a_variable_that_is_none_of_ours(self, home: Home) -> None:
        (found, fix) = examined(home, extra={"POSTOFFICE_SEVER": "x"})["environment"]
        assert "POSTOFFICE_SEVER" in found
        assert fix == "did you mean POSTOFFICE_SERVER? Otherwise unset it"
        (_, fix) = examined(home, extra={"POSTOFFICE_XYZZY": "x"})["environment"]
        assert fix == "see docs/settings.md for the name you meant, or unset it"

    def test_what_a_runner_tells_its_commands_is_no_slip(self, home: Home) -> None:
        (coder,) = home.names("coder")
        home.ask("send", "--to", coder, "is all well?", "--as", coder)
        findings = home.ask("recv", "--as", coder, "--exec", f"{shlex.join(COMMAND)} doctor")["findings"]
        assert {finding["is"] for finding in findings} == {"fine"}

    def test_keys_that_others_can_read(self, home: Home) -> None:
        (coder,) = home.names("coder")
        home.ask("register", coder)
        next(home.keys.rglob("*.json")).chmod(0o644)
        assert "chmod 600" in examined(home)["keys"][1]

    def test_data_open_to_others(self, home: Home, data: Path) -> None:
        data.chmod(0o755)
        assert f"chmod 700 {data}" in examined(home, "--data", str(data))["data"][1]

    def test_data_that_cannot_be_written(self, home: Home, data: Path) -> None:
        data.chmod(0o500)
        under: tuple[str, ...] = ()
        if os.geteuid() == 0:  # root may write anywhere, unless that is taken from it
            if shutil.which("setpriv") is None:
                pytest.skip("root without setpriv")
            under = ("setpriv", "--bounding-set=-dac_override,-dac_read_search")
        assert "chown" in examined(home, "--data", str(data), under=under)["data"][1]

    def test_data_that_is_no_directory(self, home: Home, data: Path) -> None:
        found, fix = examined(home, "--data", str(data / "mailbox.db"))["data"]
        assert (found.endswith("is no directory"), "--data" in fix) == (True, True)

    def test_the_owner_s_key_missing(self, home: Home, data: Path) -> None:
        (data / "owner.key").unlink()
        assert "start the server" in examined(home, "--data", str(data))["owner's key"][1]

    def test_the_owner_s_key_open_to_others(self, home: Home, data: Path) -> None:
        (data / "owner.key").chmod(0o640)
        assert "chmod 600" in examined(home, "--data", str(data))["owner's key"][1]

    @pytest.mark.parametrize("way", ["no database", "cut short"])
    def test_a_damaged_database(self, home: Home, data: Path, way: str) -> None:
        file = data / "mailbox.db"
        file.write_bytes(b"x" * 9000 if way == "no database" else file.read_bytes()[:9000])
        found, fix = examined(home, "--data", str(data))["database"]
        assert "damaged" in found
        assert "postoffice restore" in fix


class TestOnTheWay:
    def test_a_server_that_is_down(self, home: Home) -> None:
        gone = Home(home.folder, Office(free_port(), home.office.data))
        assert "postoffice serve" in examined(gone)["server"][1]

    def test_a_server_without_tls(self, home: Home) -> None:
        found, fix = examined(home, "--server", home.office.url.replace("http:", "https:"))["server"]
        assert "no TLS" in found
        assert f"write {home.office.url}," in fix

    @pytest.mark.parametrize("says", [{"hello": "world"}, [], {"name": "other", "version": "1"}])
    def test_another_program_on_the_port(self, home: Home, says: object) -> None:
        with answering(says) as other:
            assert "another program" in examined(Home(home.folder, other))["server"][1]

    def test_a_proxy_that_finds_no_office_behind_it(self, home: Home) -> None:
        """As our nginx.conf says it; the port was told to be another program's."""
        with answering({"detail": "No office answers; try again with the same id.", "code": "unavailable"}) as proxy:
            found, fix = examined(home, "--server", proxy.url)["server"]
        assert "No office answers" in found
        assert "postoffice serve" in fix

    def test_another_version(self, home: Home) -> None:
        with answering(OURS | {"version": "99.0"}) as other:
            found, fix = examined(Home(home.folder, other))["version"]
        assert "99.0" in found
        assert "newer" in fix

    def test_another_time(self, home: Home) -> None:
        with answering(OURS, date="Sun, 06 Nov 1994 08:49:37 GMT") as other:
            assert "NTP" in examined(Home(home.folder, other))["clock"][1]

    def test_a_date_that_is_none(self, home: Home) -> None:
        with answering(OURS, date="yesterday") as other:
            assert "clock" not in examined(Home(home.folder, other))

    def test_a_proxy_is_not_asked_for_what_is_on_this_machine(self, home: Home) -> None:
        assert examined(home, extra={"http_proxy": f"http://127.0.0.1:{free_port()}", "no_proxy": ""}) == {}

    def test_an_address_that_is_none(self, home: Home) -> None:
        assert "http://127.0.0.1:8787" in examined(home, "--server", "ftp://nowhere")["address"][1]

    def test_mail_in_the_open(self, home: Home) -> None:
        # The unspecified address is this machine by another name, one that is not loopback's.
        found = examined(home, "--server", f"http://0.0.0.0:{home.office.port}")
        assert "https" in found["transport"][1]

    def test_a_name_the_server_does_not_answer_to(self, home: Home) -> None:
        found, fix = examined(home, "--server", f"http://0.0.0.0:{home.office.port}")["server"]
        assert "does not accept this name" in found
        assert "POSTOFFICE_ALLOWED_HOSTS" in fix


class TestInTheOffice:
    def test_a_key_that_is_no_good(self, home: Home) -> None:
        (coder,) = home.names("coder")
        home.ask("register", coder)
        home.ask("key", "revoke", "--as", coder)
        assert "postoffice login" in examined(home, "--as", coder)["you"][1]
        assert "you" in examined(home, extra={"POSTOFFICE_KEY": "amb_0"})

    def test_an_owner_s_key_of_another_office(self, home: Home, data: Path) -> None:
        (data / "owner.key").write_text("amb_" + "0" * 64)
        found, fix = examined(home, extra={"POSTOFFICE_DATA": str(data)})["you"]
        assert f"{data}/owner.key is another office's" in found
        assert "POSTOFFICE_DATA" in fix

    def test_dead_letters(self, hasty_home: Home) -> None:
        alice, bob = hasty_home.names("alice", "bob")
        hasty_home.ask("send", "--to", bob, "hello", "--as", alice)
        hasty_home.run("recv", "--as", bob, "--exec", "false")
        assert f"postoffice dead list --as {bob}" in examined(hasty_home, "--as", bob)["dead letters"][1]

"""One line, pasted on another machine, makes it an agent's."""

import shlex
from pathlib import Path

from tests.cli.home import Home, opened
from tests.cli.terminal import plain, seen


def test_a_pasted_line_makes_another_machine_the_agents(tmp_path: Path) -> None:
    with opened(tmp_path / "data", "--auth", "keys") as office:
        here = Home(tmp_path / "here", office)
        line = here.ask("invite", "coder", "--allow", "*")["command"]
        there = {"POSTOFFICE_DATA": "nowhere", "POSTOFFICE_SERVER": ""}
        far = Home(tmp_path / "far", office)
        joined = far.ask(*shlex.split(line)[1:], extra=there)
        assert (joined["name"], joined["server"]) == ("coder", office.url)
        here.ask("send", "--to", "coder", "hello")
        assert far.ask("recv", extra=there)["content"] == "hello"
        assert far.ask("whoami", extra=there)["name"] == "coder"
        assert "used already" in far.refused(77, *shlex.split(line)[1:], extra=there)
        assert "amb_" not in line


def test_a_person_is_told_what_to_paste(home: Home) -> None:
    (coder,) = home.names("coder")
    screen = plain(seen(home, "invite", coder, "--at", "https://mail.example.com"))
    assert "  postoffice join https://mail.example.com " in screen
    assert "within an hour" in screen

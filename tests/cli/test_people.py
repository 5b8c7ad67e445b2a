"""Who the command speaks as, and where keys are kept."""

import json
import stat
from pathlib import Path

import pytest

from tests.cli.home import Home, opened
from tests.cli.terminal import plain, seen

FULL = ("bash", "-c", 'ulimit -f 0; exec "$@"', "full")  # no file may grow, as on a full disk


class TestKeys:
    def test_registering_keeps_the_key_for_its_person_alone(self, home: Home) -> None:
        (coder,) = home.names("coder")
        done = home.run("register", coder, "--description", "writes code", "--capability", "python", "--allow", "*")
        made = json.loads(done.stdout)
        (path,) = home.keys.rglob("*.json")
        assert made["kept_in"] == str(path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        key = home.key_of(coder)
        assert key not in done.stdout + done.stderr
        assert key.startswith(made["key_prefix"])
        (card,) = [card for card in home.ask("agents")["agents"] if card["name"] == coder]
        assert (card["description"], card["capabilities"], card["has_key"]) == ("writes code", ["python"], True)

    def test_a_name_is_taken_once(self, home: Home) -> None:
        (coder,) = home.names("coder")
        home.ask("register", coder)
        assert "taken" in home.refused(73, "register", coder)

    def test_a_name_that_nobody_ever_used_is_forgotten(self, home: Home) -> None:
        coder, slip = home.names("coder", "slip")
        home.ask("send", "--to", slip, "Noon?", "--as", coder)
        assert home.ask("forget", slip) == {"name": slip, "dead": 1}
        assert slip not in [card["name"] for card in home.ask("agents")["agents"]]
        assert "stays on record" in home.refused(73, "forget", coder)

    def test_a_name_whose_key_cannot_be_kept_is_not_taken(self, home: Home) -> None:
        (coder,) = home.names("coder")
        assert "/proc/nowhere" in home.refused(74, "register", coder, extra={"POSTOFFICE_CREDENTIALS": "/proc/nowhere"})
        assert home.run("register", coder, under=FULL).returncode == 74
        home.ask("register", coder)
        assert home.ask("inbox", "--as", coder)["sessions"] == []

    @pytest.mark.parametrize("way", ["standard input", "environment"])
    def test_a_key_made_elsewhere_is_kept_once_it_is_proven(self, home: Home, way: str) -> None:
        (coder,) = home.names("coder")
        home.ask("register", coder)
        key = home.key_of(coder)
        elsewhere = {"POSTOFFICE_CREDENTIALS": str(home.folder / "elsewhere")}
        if way == "environment":
            done = home.run("login", extra=elsewhere | {"POSTOFFICE_KEY": key})
        else:
            done = home.run("login", said=f"{key}\n", extra=elsewhere)
        (path,) = (home.folder / "elsewhere").rglob("*.json")
        assert json.loads(done.stdout) == {"name": coder, "kept_in": str(path), "page": f"{home.office.url}/"}
        assert key not in done.stdout + done.stderr
        assert stat.S_IMODE(path.stat().st_mode) == 0o600

    def test_a_wrong_key_is_not_kept(self, home: Home) -> None:
        for key in ("amb_" + "0" * 64, "amb_0"):
            assert f"not one of {home.office.url}'s" in home.refused(77, "login", said=key)
        assert list(home.keys.rglob("*.json")) == []

    def test_a_login_that_is_given_no_key_says_how_to_give_one(self, home: Home) -> None:
        (coder,) = home.names("coder")
        assert "No key was given" in home.refused(77, "login", "--as", coder)
        for nothing in (b"\n", b"\x04"):  # only Enter, and the end of what is typed
            assert "No key was given" in seen(home, "login", "--as", coder, until="key: ", typed=nothing, code=77)

    def test_a_login_that_waits_for_a_key_ends_with_the_first_interrupt(self, home: Home) -> None:
        (coder,) = home.names("coder")
        assert "Traceback" not in seen(home, "login", "--as", coder, until="key: ", code=130)

    def test_whoever_has_a_key_here_and_gives_no_other_gets_a_link(self, home: Home) -> None:
        one, other = home.names("one", "other")
        home.ask("register", one)
        elsewhere = {"POSTOFFICE_DATA": "nowhere"}
        assert home.ask("login", extra=elsewhere) == {"name": one, "page": f"{home.office.url}/"}
        assert plain(seen(home, "login", extra=elsewhere)).startswith(f"The page as {one} sees it:")
        home.ask("register", other)
        assert home.ask("login", extra={"POSTOFFICE_AGENT": one})["name"] == one
        assert home.ask("login", said=home.key_of(other), extra={"POSTOFFICE_AGENT": one})["name"] == other

    def test_a_rotated_key_takes_the_old_one_s_place(self, home: Home) -> None:
        (coder,) = home.names("coder")
        home.ask("register", coder)
        old = home.key_of(coder)
        done = home.run("key", "rotate", "--overlap", "0", "--as", coder)
        new = home.key_of(coder)
        assert new != old
        assert new not in done.stdout
        assert home.ask("inbox", "--as", coder)["sessions"] == []
        home.refused(77, "inbox", extra={"POSTOFFICE_KEY": old})
        keys = home.ask("key", "list", "--as", coder)["keys"]
        assert {key["prefix"] for key in keys} == {old[:8], new[:8]}

    def test_a_new_key_that_cannot_be_kept_leaves_the_old_one_in_its_place(self, home: Home) -> None:
        (coder,) = home.names("coder")
        home.ask("register", coder)
        old = home.key_of(coder)
        assert home.run("key", "rotate", "--overlap", "0", "--as", coder, under=FULL).returncode == 74
        assert home.key_of(coder) == old
        assert [path.name for path in home.keys.rglob("*") if path.is_file()] == [f"{coder}.json"]
        assert home.ask("inbox", "--as", coder)["sessions"] == []

    def test_the_owner_s_new_key_takes_the_old_one_s_place_in_the_office(self, tmp_path: Path) -> None:
        data = tmp_path / "data"
        for round in range(2):  # and the next start finds it there
            with opened(data) as office:
                there = Home(tmp_path / "home", office)
                old = office.owner_key
                assert there.ask("key", "rotate", "--overlap", "0", "--as", "owner")["kept_in"] == str(data / "owner.key"), round
                assert office.owner_key != old
                assert stat.S_IMODE((data / "owner.key").stat().st_mode) == 0o600
                assert there.ask("key", "list", "--as", "owner")["keys"]
                assert list(there.keys.rglob("*.json")) == []

    def test_an_owner_s_key_kept_by_a_login_is_the_owner_s_only(self, home: Home) -> None:
        elsewhere = {"POSTOFFICE_DATA": "nowhere"}
        home.run("login", said=f"{home.office.owner_key}\n", extra=elsewhere)
        assert home.ask("key", "list", "--as", "owner", extra=elsewhere)["keys"]
        (coder,) = home.names("coder")
        home.ask("register", coder)
        (key,) = home.ask("key", "list", extra=elsewhere)["keys"]
        assert key["agent"] == coder

    def test_a_key_that_is_given_takes_the_place_of_one_that_opens_nothing_any_more(self, home: Home) -> None:
        (coder,) = home.names("coder")
        home.ask("register", coder)
        elsewhere = {"POSTOFFICE_CREDENTIALS": str(home.folder / "elsewhere")}
        home.run("login", said=home.key_of(coder), extra=elsewhere)
        home.ask("key", "rotate", "--overlap", "0", "--as", coder)
        home.refused(77, "login", "--as", coder, extra=elsewhere)
        assert home.ask("login", "--as", coder, said=home.key_of(coder), extra=elsewhere)["name"] == coder
        assert home.ask("inbox", "--as", coder, extra=elsewhere)["sessions"] == []

    def test_a_revoked_key_opens_nothing(self, home: Home) -> None:
        (coder,) = home.names("coder")
        made = home.ask("register", coder)
        assert "no key beginning with 'amb_zzzz'" in home.refused(66, "key", "revoke", "--prefix", "amb_zzzz", "--as", coder)
        assert home.ask("key", "revoke", "--prefix", made["key_prefix"], "--as", coder)["keys"][0]["revoked_at"]
        home.refused(77, "inbox", "--as", coder)

    @pytest.mark.parametrize("whose", ["--as", "--of"])
    def test_at_a_terminal_all_keys_are_taken_back_only_by_who_says_yes(self, home: Home, whose: str) -> None:
        (coder,) = home.names("coder")
        home.ask("register", coder)
        words = ("key", "revoke", whose, coder)
        question = f"Revoke every key of {coder}? Every program that uses one is locked out. [y/N] "
        for answer in (b"\n", b"n\n", b"\x04"):
            assert plain(seen(home, *words, until=question, typed=answer)).endswith("Nothing was revoked.\n")
        assert "Traceback" not in seen(home, *words, until=question, code=130)
        assert home.ask("inbox", "--as", coder)["sessions"] == []
        assert question in seen(home, *words, until=question, typed=b"y\n")
        home.refused(77, "inbox", "--as", coder)

    @pytest.mark.parametrize("flags", [("--yes",), ("--json",), ("--prefix", "amb_")])
    def test_whoever_says_enough_is_not_asked(self, home: Home, flags: tuple[str, ...]) -> None:
        (coder,) = home.names("coder")
        home.ask("register", coder)
        assert "[y/N]" not in seen(home, "key", "revoke", *flags, "--as", coder)
        home.refused(77, "inbox", "--as", coder)

    def test_a_script_is_not_asked(self, home: Home) -> None:
        (coder,) = home.names("coder")
        home.ask("register", coder)
        assert home.ask("key", "revoke", "--as", coder)["keys"][0]["revoked_at"]
        home.refused(77, "inbox", "--as", coder)

    def test_where_there_is_no_key_nobody_is_asked(self, home: Home) -> None:
        (guest,) = home.names("guest")
        assert f"{guest} has no key to take back." in seen(home, "key", "revoke", "--as", guest, code=66)

    def test_a_name_without_a_key_has_none_to_take_back(self, home: Home) -> None:
        (guest,) = home.names("guest")
        assert f"{guest} has no key to take back." in home.refused(66, "key", "revoke", "--as", guest)

    def test_the_owner_mends_another_s(self, home: Home) -> None:
        (coder,) = home.names("coder")
        home.ask("register", coder)
        owner = {"POSTOFFICE_KEY": home.office.owner_key}
        home.ask("key", "revoke", "--of", coder, extra=owner)
        home.ask("key", "rotate", "--of", coder, extra=owner)
        assert home.ask("inbox", "--as", coder)["sessions"] == []


class TestIdentity:
    def me(self, home: Home, *words: str, extra: dict[str, str] | None = None) -> tuple[str, bool]:
        """As whom a message goes, and whether a key proved it."""
        (ear,) = home.names("ear")
        home.ask("send", "--to", ear, "who?", *words, extra=extra)
        taken = home.ask("recv", "--as", ear)
        return taken["from"], taken["from_verified"]

    def test_a_name_with_a_key_here_is_proven_by_it(self, home: Home) -> None:
        (coder,) = home.names("coder")
        home.ask("register", coder)
        assert self.me(home, "--as", coder) == (coder, True)
        assert self.me(home, extra={"POSTOFFICE_AGENT": coder}) == (coder, True)

    def test_a_name_without_one_is_taken_on_trust(self, home: Home) -> None:
        (guest,) = home.names("guest")
        assert self.me(home, "--as", guest) == (guest, False)

    def test_a_name_that_has_a_key_cannot_be_used_without(self, home: Home) -> None:
        (coder,) = home.names("coder")
        home.ask("register", coder)
        assert "keep it with `postoffice login`" in home.refused(77, "inbox", "--as", coder, extra={"POSTOFFICE_CREDENTIALS": "nowhere"})

    def test_the_only_key_here_needs_no_name(self, home: Home) -> None:
        (coder,) = home.names("coder")
        home.ask("register", coder)
        assert self.me(home, extra={"POSTOFFICE_DATA": "nowhere"}) == (coder, True)
        assert self.me(home) == ("owner", True)

    def test_otherwise_it_is_the_owner_on_their_own_machine(self, home: Home) -> None:
        assert self.me(home) == ("owner", True)
        for name in home.names("one", "two"):
            home.ask("register", name)
        assert self.me(home) == ("owner", True)

    def test_an_empty_variable_says_nothing(self, home: Home) -> None:
        names = ("POSTOFFICE_KEY", "POSTOFFICE_AGENT")
        assert self.me(home, extra=dict.fromkeys(names, "")) == ("owner", True)
        at_home = home.folder / "data" / "postoffice"
        at_home.mkdir(parents=True)
        (at_home / "owner.key").write_text(home.office.owner_key)
        assert self.me(home, extra={"POSTOFFICE_DATA": "", "XDG_DATA_HOME": str(home.folder / "data")}) == ("owner", True)

    def test_another_office_s_owner_still_takes_a_name_here_and_is_told_of_the_mistake(self, home: Home) -> None:
        elsewhere = home.folder / "elsewhere"
        elsewhere.mkdir(exist_ok=True)
        (elsewhere / "owner.key").write_text("amb_" + "0" * 64)
        (name,) = home.names("newcomer")
        extra = {"POSTOFFICE_DATA": str(elsewhere), "POSTOFFICE_CREDENTIALS": str(elsewhere / "keys")}
        for words in (("agents",), ("watch",), ("recv",), ("ledger", "verify", "--ledger", "127.0.0.1:50211=0.0.3")):
            assert "is not this office's; speak as an agent with --as" in home.refused(77, *words, extra=extra)
        assert home.ask("register", name, extra=extra)["name"] == name
        assert home.ask("agents", "--as", name, extra=extra)["agents"]

    def test_nobody_is_nobody(self, home: Home) -> None:
        assert "name an agent with --as" in home.refused(77, "inbox", extra={"POSTOFFICE_DATA": "nowhere"})

    def test_a_key_in_the_environment_comes_first(self, home: Home) -> None:
        first, second = home.names("first", "second")
        for name in (first, second):
            home.ask("register", name)
        assert self.me(home, extra={"POSTOFFICE_KEY": home.key_of(second)}) == (second, True)
        assert "belongs to" in home.refused(77, "inbox", "--as", first, extra={"POSTOFFICE_KEY": home.key_of(second)})

    def test_a_damaged_file_says_what_to_do(self, home: Home) -> None:
        (coder,) = home.names("coder")
        home.ask("register", coder)
        next(home.keys.rglob("*.json")).write_text("{")
        assert "log in again" in home.refused(65, "inbox", "--as", coder)


class TestWhoOneIs:
    def test_registering_changes_nobody(self, home: Home) -> None:
        for name in home.names("coder", "tester"):
            assert home.ask("whoami")["name"] == "owner"
            home.ask("register", name)
        assert home.ask("whoami")["name"] == "owner"

    def test_it_is_chosen_once_and_holds_until_another_is(self, home: Home) -> None:
        (coder,) = home.names("coder")
        home.ask("register", coder)
        assert home.ask("use", coder) == {"name": coder, "server": home.office.url, "key": True, "why": "by `postoffice use`"}
        assert home.ask("whoami") == {"name": coder, "server": home.office.url, "key": True, "why": "by `postoffice use`"}
        assert home.ask("inbox")["sessions"] == []
        assert home.ask("whoami", "--as", "owner")["why"] == "by --as"
        assert home.ask("agents", extra={"POSTOFFICE_AGENT": "owner"})
        home.ask("use", "--none")
        assert home.ask("whoami")["name"] == "owner"

    def test_a_name_without_a_key_can_be_chosen_where_names_suffice(self, home: Home) -> None:
        (ann,) = home.names("ann")
        assert home.ask("use", ann)["key"] is False
        home.ask("use", "--none")
        home.ask("send", "--as", ann, "--to", f"{ann}s-friend", "hello")
        assert "doubt" not in home.ask("use", ann)
        assert home.ask("whoami")["name"] == ann

    def test_a_slip_in_the_name_is_told_with_who_may_be_meant(self, home: Home) -> None:
        (coder,) = home.names("steady-coder")
        home.ask("register", coder)
        assert f"did you mean '{coder}'" in plain(seen(home, "use", coder.replace("steady", "stedy")))
        home.ask("use", "--none")

    def test_nobody_chooses_what_is_no_name(self, home: Home) -> None:
        assert "cannot name an agent" in home.refused(65, "use", "no name")

    def test_the_page_is_opened_for_whoever_asks(self, home: Home) -> None:
        assert home.ask("open") == {"name": "owner", "page": f"{home.office.url}/", "opened": False}

    def test_login_says_what_it_asks_for(self, home: Home) -> None:
        screen = seen(home, "login", until="key:", code=130)
        assert "It begins with amb_" in screen
        assert "postoffice register NAME" in screen

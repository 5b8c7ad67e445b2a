"""Letters answered and done with, and what becomes of a question that waits for its answer."""

from concurrent.futures import ThreadPoolExecutor

from tests.cli.home import Home
from tests.cli.terminal import plain, seen


class TestReplying:
    def test_an_answer_goes_to_who_wrote_in_the_same_conversation_and_settles(self, home: Home) -> None:
        alice, bob = home.names("alice", "bob")
        sent = home.ask("send", "--to", bob, "Lunch?", "--subject", "Noon", "--as", alice)
        answered = home.ask("reply", sent["message_id"][-6:], "Yes", "--as", bob)
        assert answered["session_id"] == sent["session_id"]
        assert home.ask("recv", "--as", alice)["content"] == "Yes"
        (standing,) = home.ask("status", sent["message_id"], "--as", alice)["standings"]
        assert (standing["state"], standing["reason"]) == ("acked", "answered")

    def test_a_conversation_stands_for_its_last_letter(self, home: Home) -> None:
        alice, bob = home.names("alice", "bob")
        for text in ("one", "two"):
            sent = home.ask("send", "--to", bob, text, "--subject", "Noon", "--as", alice)
        assert plain(seen(home, "reply", sent["session_id"][-6:], "three", "--as", bob)).startswith(f"Answered {alice} (")

    def test_what_is_no_letter_is_told(self, home: Home) -> None:
        (bob,) = home.names("bob")
        assert "no letter" in home.refused(66, "reply", "abcdef", "Yes", "--as", bob)
        assert "nothing was sent" in home.refused(65, "reply", "abcdef", "", "--as", bob)

    def test_a_person_is_done_with_what_waits(self, home: Home) -> None:
        (alice,) = home.names("alice")
        sent = home.ask("send", "--to", "owner", "for your information", "--as", alice)
        assert plain(seen(home, "done", sent["message_id"][-6:])) == f"{sent['message_id'][-6:]} is done.\n"
        (standing,) = home.ask("status", sent["message_id"], "--as", alice)["standings"]
        assert standing["state"] == "acked"


class TestWaiting:
    def test_who_waits_is_told_that_it_failed_for_good(self, hasty_home: Home) -> None:
        alice, bob = hasty_home.names("alice", "bob")
        words = ("send", "--to", bob, "do it", "--wait-reply", "60", "--as", alice)
        hasty_home.ask("agents", "--as", bob)
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(hasty_home.refused, 69, *words)
            assert hasty_home.run("recv", "--exec", "exit 3", "--as", bob).returncode == 3
            assert "the command ended with 3" in waiting.result()

"""Questions to a person, asked and answered at the command."""

from tests.cli.home import Home
from tests.cli.terminal import plain, seen


class TestQuestions:
    def test_one_is_asked_shown_and_answered_by_a_choice(self, home: Home) -> None:
        (coder,) = home.names("coder")
        asked = home.ask("ask", f"Ship {coder}?", "--choice", "ship it", "--choice", "wait", "--as", coder)
        end = asked["message_id"][-6:]
        shown = plain(seen(home, "questions", extra={"COLUMNS": "100"}))
        assert f"Ship {coder}? [ship it / wait]" in shown
        assert end in shown
        assert plain(seen(home, "answer", end, "Ship it", "gladly")) == f"Answered {coder}: ship it gladly\n"
        letter = home.ask("recv", "--as", coder)
        assert (letter["type"], letter["answer"]["choice"], letter["answer"]["text"]) == ("answer", "ship it", "gladly")
        (closed,) = home.ask("questions", "--asked", "--all", "--as", coder)["questions"]
        assert closed["state"] == "answered"

    def test_a_choice_may_be_its_number_and_an_answer_words(self, home: Home) -> None:
        (coder,) = home.names("coder")
        asked = [home.ask("ask", text, "--choice", "yes", "--choice", "no", "--as", coder)["message_id"] for text in ("one", "two")]
        assert home.ask("answer", asked[0], "2")["choice"] == "no"
        assert home.ask("answer", asked[1], "only on Monday")["answer"] == "only on Monday"

    def test_the_second_answer_is_told_who_was_first(self, home: Home) -> None:
        (coder,) = home.names("coder")
        id = home.ask("ask", "Which?", "--as", coder)["message_id"]
        home.ask("answer", id, "this")
        assert "this" in home.refused(73, "answer", id, "that")

    def test_an_agent_is_no_person(self, home: Home) -> None:
        alice, bob = home.names("alice", "bob")
        for name in (alice, bob):
            home.ask("register", name, "--allow", "*")
        id = home.ask("ask", "Which?", "--as", alice)["message_id"]
        home.run("answer", id, "mine", "--as", bob)
        (open_one,) = home.ask("questions", "--asked", "--as", alice)["questions"]
        assert open_one["state"] == "open"

    def test_what_asks_nothing_is_refused(self, home: Home) -> None:
        assert "say what you ask" in home.refused(65, "ask", " ", "--as", "coder")
        assert "tomorrow" in home.refused(65, "ask", "When?", "--deadline", "soon", "--as", "coder")

"""A message is answered in its conversation with what the command printed, once."""

import json
from pathlib import Path

import pytest

from tests.runner.bench import Bench
from tests.runner.conftest import BUDGET
from tests.runner.office import Office, until


class TestAnAnswer:
    def test_goes_to_the_sender_in_the_same_session_as_an_automatic_reply(self, bench: Bench) -> None:
        runner = bench.run("sh", "-c", "echo you said $1", "sh", "{message}")
        sent = bench.send("hello", correlation_id="mark-1")
        (reply,) = bench.replies()
        assert reply["from"] == bench.coder
        assert reply["content"] == "you said hello"
        assert reply["reply_to"] == sent["message_id"]
        assert reply["correlation_id"] == "mark-1"
        assert reply["automatic"] is True
        assert bench.office.history(bench.ann, sent["session_id"]) == ["hello", "you said hello"]
        assert bench.until_state(sent["message_id"], "acked")["attempts"] == 1
        assert f"answered {sent['message_id']}" in runner.until_said("answered")

    def test_is_what_a_program_gets_that_only_reads_standard_input(self, bench: Bench) -> None:
        bench.run("cat")
        sent = bench.send("hello", correlation_id="mark-2", payload=None, metadata={"deep": [1, {"é": None}]})
        (reply,) = bench.replies()
        letter = json.loads(reply["content"])
        assert letter["id"] == sent["message_id"]
        assert (letter["from"], letter["content"], letter["subject"]) == (bench.ann, "hello", "work")
        assert (letter["session_id"], letter["correlation_id"]) == (sent["session_id"], "mark-2")
        assert letter["metadata"] == {"deep": [1, {"é": None}]}
        assert (letter["attempt"], letter["from_verified"]) == (1, False)

    def test_of_nothing_is_nothing_sent_and_the_mail_is_done_with(self, bench: Bench) -> None:
        bench.run("true")
        sent = bench.send()
        bench.until_state(sent["message_id"], "acked")
        assert bench.office.waiting(bench.ann) == []

    @pytest.mark.parametrize("size", [10_000, 10_001, 300_000])
    def test_arrives_whole_however_long(self, bench: Bench, size: int) -> None:
        bench.run(bench.python("long", f"print('é' * {size})"))
        bench.send()
        (reply,) = bench.replies()
        text = reply["content"] if reply["content"] is not None else "".join(part["text"] for part in reply["parts"])
        assert text == "é" * size

    def test_is_cut_where_no_message_could_hold_it_and_the_command_is_not_run_again(self, bench: Bench) -> None:
        bench.run(bench.python("long", "open('ran', 'a').write('ran\\n')\nprint('漢' * 450_000)"))
        sent = bench.send()
        (reply,) = bench.replies()
        assert set(reply["parts"][0]["text"]) == {"漢"}
        assert bench.until_state(sent["message_id"], "acked")["attempts"] == 1
        assert bench.lines("ran") == ["ran"]

    def test_arrives_also_with_half_an_emoji_in_it(self, bench: Bench) -> None:
        bench.sh("claude", """echo '{"type": "result", "result": "cut \\ud83d", "session_id": "c"}'""")
        bench.run(flags=("--with", "claude"))
        bench.send()
        (reply,) = bench.replies()
        assert reply["content"] == "cut ?"

    @pytest.mark.parametrize("kind", ["message", "task"])
    def test_arrives_also_with_what_no_mailbox_can_keep_and_the_command_is_not_run_again(self, bench: Bench, kind: str) -> None:
        bench.run("sh", "-c", r"echo ran >> ran; printf 'a\000b\377'")
        sent = bench.send(type=kind)
        assert bench.until_state(sent["message_id"], "acked")["attempts"] == 1
        assert bench.replies()[-1]["content"] == "a\\u0000b\ufffd"
        assert bench.lines("ran") == ["ran"]

    @pytest.mark.parametrize(
        "printed",
        [
            '{"type": "result", "result": "fine", "session_id": "\\u0000"}',
            '{"type": "result", "result": "fine", "session_id": "-c"}',
            '{"type": "result", "result": "fine", "session_id": 7}',
        ],
    )
    def test_counts_though_its_conversation_cannot_be_gone_on_with(self, bench: Bench, printed: str) -> None:
        bench.sh("claude", f"echo ran >> ran; cat <<'EOF'\n{printed}\nEOF")
        bench.run(flags=("--with", "claude"))
        for subject in ("one", "two"):
            bench.send(subject=subject)
        assert [reply["content"] for reply in bench.replies(2)] == ["fine", "fine"]
        assert bench.lines("ran") == ["ran", "ran"]

    def test_is_what_was_printed_where_that_is_deeper_than_anybody_reads(self, bench: Bench) -> None:
        bench.sh("claude", "echo ran >> ran; head -c 200000 /dev/zero | tr '\\0' '['")
        bench.run(flags=("--with", "claude"))
        bench.send()
        (reply,) = bench.replies()
        assert reply["parts"] == [{"type": "text", "text": "[" * 200_000}]
        assert bench.lines("ran") == ["ran"]

    def test_is_cut_to_what_the_office_takes_where_that_is_less_than_usual(self, tmp_path: Path) -> None:
        own = Bench(Office(tmp_path, POSTOFFICE_MESSAGE_BYTES="5000"), tmp_path)
        own.office.start()
        try:
            own.run("sh", "-c", "echo ran >> ran; head -c 20000 /dev/zero | tr '\\0' x")
            own.send()
            (reply,) = own.replies()
            assert set(reply["content"]) == {"x"}
            assert own.lines("ran") == ["ran"]
        finally:
            own.close()
            own.office.close()

    def test_comes_also_where_the_command_never_reads_what_it_is_given(self, bench: Bench) -> None:
        bench.run("echo", "done")
        big = [{"type": "text", "text": "x" * 500_000}]
        bench.office.call(bench.ann, "/messages/send", {"to": bench.coder, "subject": "s", "parts": big})
        (reply,) = bench.replies()
        assert reply["content"] == "done"

    def test_comes_to_a_message_too_long_for_a_command_line_on_standard_input(self, bench: Bench) -> None:
        """Linux takes words of up to 128 KiB; a message may have a megabyte."""
        bench.run(bench.python("count", "import json, sys\nprint(len(json.load(sys.stdin)['parts'][0]['text']))"), "{from}")
        big = [{"type": "text", "text": "x" * 300_000}]
        bench.office.call(bench.ann, "/messages/send", {"to": bench.coder, "subject": "s", "parts": big})
        (reply,) = bench.replies()
        assert reply["content"] == "300000"

    def test_knows_whose_it_is_by_the_environment(self, bench: Bench) -> None:
        bench.run("sh", "-c", 'echo "$POSTOFFICE_AGENT|$POSTOFFICE_SERVER|$POSTOFFICE_SESSION"')
        sent = bench.send()
        (reply,) = bench.replies()
        assert reply["content"] == f"{bench.coder}|{bench.office.url}|{sent['session_id']}"

    def test_is_not_sent_as_well_where_its_agent_has_answered_meanwhile(self, bench: Bench) -> None:
        """As a model does that has the mailbox's tools at hand."""
        script = bench.python(
            "answer",
            """
import json, os, urllib.request

def call(method, path, body=None):
    headers = {"X-Agent": os.environ["POSTOFFICE_AGENT"], "Content-Type": "application/json"}
    request = urllib.request.Request(os.environ["POSTOFFICE_SERVER"] + path, body and json.dumps(body).encode(), headers, method=method)
    return json.load(urllib.request.urlopen(request))

(kept,) = call("GET", "/messages/in-hand")["messages"]
letter = kept["message"]
call("POST", "/messages/send", {"to": letter["from"], "content": "by hand", "reply_to": letter["id"]})
print("printed")
""",
        )
        runner = bench.run(script)
        sent = bench.send()
        runner.until_said("automatic reply was not sent")
        assert bench.until_state(sent["message_id"], "acked")["attempts"] == 1
        assert [reply["content"] for reply in bench.replies()] == ["by hand"]


class TestAnAnswerThatFindsNoRoom:
    def test_is_sent_once_there_is_some_and_the_command_is_not_run_again(self, tmp_path: Path) -> None:
        """The work is done: another run would cost as much as the first, and say something else."""
        (tmp_path / "office").mkdir()
        office = Office(tmp_path / "office", POSTOFFICE_DEPTH="1")
        office.start()
        bench = Bench(office, tmp_path)
        try:
            office.send("bob", bench.ann, "in the way")
            runner = bench.run("sh", "-c", "echo ran >> ran; echo answer")
            sent = bench.send()
            runner.until_said("given back")
            (leased,) = office.call(bench.ann, "/messages/receive", {})["messages"]
            office.call(bench.ann, f"/messages/{leased['id']}/ack", {"token": leased["token"]})
            assert [reply["content"] for reply in bench.replies()] == ["answer"]
            assert bench.until_state(sent["message_id"], "acked")["attempts"] > 1
            assert bench.lines("ran") == ["ran"]
        finally:
            bench.close()
            office.close()


class TestNotices:
    def test_of_the_office_are_put_away_without_running_anything(self, bench: Bench) -> None:
        """A dead letter of the agent's own makes one."""
        bench.office.send(bench.coder, bench.ann, "nobody wants this")
        for _ in range(2):
            (leased,) = bench.office.call(bench.ann, "/messages/receive", {})["messages"]
            bench.office.call(bench.ann, f"/messages/{leased['id']}/nack", {"token": leased["token"]})
        assert len(bench.office.notices(bench.coder)) == 1
        runner = bench.run("sh", "-c", "echo ran >> ran; echo fine")
        said = runner.until_said("notice: ")
        until(lambda: bench.office.notices(bench.coder) == [])
        assert f"Your message to {bench.ann}" in said
        until(lambda: bench.office.call(bench.coder, "/agents/me")["leased"] == 0)
        assert bench.lines("ran") == []


class TestTwoRunners:
    def test_that_answer_each_other_stop_at_the_budget_say_so_and_hear_of_it_once(self, bench: Bench) -> None:
        words = ("sh", "-c", "echo ran >> $POSTOFFICE_AGENT; echo more")
        first, second = bench.run(*words), bench.run(*words, agent=bench.ann)
        sent = bench.send("begin")
        until(lambda: "are spent; a message that is not automatic refills them" in first.said() + second.said())
        first.until_said("notice: ")
        second.until_said("notice: ")
        until(lambda: bench.office.notices(bench.ann) + bench.office.notices(bench.coder) == [])
        assert first.stop() == second.stop() == 0
        assert bench.office.history(bench.ann, sent["session_id"]) == ["begin", *["more"] * BUDGET]
        assert len(bench.lines(bench.coder) + bench.lines(bench.ann)) == BUDGET + 1
        for runner in (first, second):
            assert runner.said().count("notice: ") == 1
        for agent in (bench.ann, bench.coder):
            me = bench.office.call(agent, "/agents/me")
            assert (me["unread"], me["leased"]) == (0, 0)

    def test_go_on_once_somebody_writes_by_hand(self, bench: Bench) -> None:
        words = ("echo", "more")
        bench.run(*words), bench.run(*words, agent=bench.ann)
        sent = bench.send("begin")
        until(lambda: len(bench.office.history(bench.ann, sent["session_id"])) == BUDGET + 1)
        bench.send("again")
        until(lambda: len(bench.office.history(bench.ann, sent["session_id"])) == 2 * (BUDGET + 1))

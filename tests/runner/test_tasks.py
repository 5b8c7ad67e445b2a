"""Work that was asked for: reported as begun, and done with what the command printed."""

from datetime import UTC, datetime, timedelta
from typing import Any

from tests.runner.bench import Bench
from tests.runner.office import until


def ask(bench: Bench, content: str = "do it") -> str:
    return str(bench.send(content, type="task")["message_id"])


def updates(bench: Bench) -> list[tuple[str, str]]:
    return [(found["task"]["state"], found["content"] or "") for found in bench.office.waiting(bench.ann) if found["type"] == "task_update"]


def task(bench: Bench, id: str) -> dict[str, Any]:
    return dict(bench.office.call(bench.ann, f"/tasks/{id}"))


def until_task(bench: Bench, id: str, state: str) -> None:
    until(lambda: task(bench, id)["state"] == state)


class TestATask:
    def test_is_working_and_then_completed_with_the_output_as_its_result(self, bench: Bench) -> None:
        bench.run("echo", "all done")
        id = ask(bench)
        until_task(bench, id, "completed")
        assert bench.until_state(id, "acked")["attempts"] == 1
        assert updates(bench) == [("working", ""), ("completed", "all done")]
        assert all(found["automatic"] for found in bench.office.waiting(bench.ann))
        steps = [(step["state"], step.get("text")) for step in task(bench, id)["steps"]]
        assert steps[-2:] == [("working", None), ("completed", "all done")]

    def test_is_completed_by_a_command_that_says_nothing(self, bench: Bench) -> None:
        bench.run("true")
        id = ask(bench)
        until_task(bench, id, "completed")
        bench.until_state(id, "acked")

    def test_may_have_a_long_result(self, bench: Bench) -> None:
        bench.run(bench.python("long", "print('x' * 50_000)"))
        id = ask(bench)
        until_task(bench, id, "completed")
        (result,) = [found for found in bench.office.waiting(bench.ann) if found["task"]["state"] == "completed"]
        assert result["parts"] == [{"type": "text", "text": "x" * 50_000}]

    def test_shows_its_agent_busy_and_then_idle(self, bench: Bench) -> None:
        bench.run("sh", "-c", "while [ ! -e go ]; do sleep 0.02; done; echo done")
        until(lambda: any(agent["name"] == bench.coder for agent in bench.office.call(bench.ann, "/agents?limit=200")["agents"]))
        id = ask(bench)
        until_task(bench, id, "working")
        assert bench.office.call(bench.ann, f"/agents/{bench.coder}")["presence"] == "busy"
        (bench.here / "go").touch()
        until_task(bench, id, "completed")
        assert bench.office.call(bench.ann, f"/agents/{bench.coder}")["presence"] == "idle"

    def test_that_fails_is_tried_again_and_then_its_asker_hears_why(self, bench: Bench) -> None:
        bench.run("sh", "-c", "echo ran >> ran; echo the disk is full >&2; exit 3")
        id = ask(bench)
        standing = bench.until_state(id, "dead")
        assert standing["attempts"] == 2
        assert "sh ended with 3, saying the disk is full" in standing["reason"]
        assert len(bench.lines("ran")) == 2
        (notice,) = bench.office.notices(bench.ann)
        assert "the disk is full" in notice

    def test_that_fails_once_is_done_at_the_second_try(self, bench: Bench) -> None:
        bench.run("sh", "-c", "[ -e once ] && echo fine && exit 0; touch once; exit 1")
        id = ask(bench)
        until_task(bench, id, "completed")
        assert bench.until_state(id, "acked")["attempts"] == 2
        assert ("completed", "fine") in updates(bench)

    def test_whose_deadline_has_passed_is_rejected_and_not_begun(self, bench: Bench) -> None:
        deadline = (datetime.now(UTC) - timedelta(minutes=1)).isoformat()
        id = str(bench.send("do it", type="task", task={"deadline": deadline})["message_id"])
        bench.run("sh", "-c", "echo ran >> ran")
        until_task(bench, id, "rejected")
        assert bench.until_state(id, "acked")["attempts"] == 1
        ((state, why),) = updates(bench)
        assert (state, "deadline" in why) == ("rejected", True)
        assert not (bench.here / "ran").exists()

    def test_that_is_canceled_meanwhile_is_done_with_and_its_news_is_not_answered(self, bench: Bench) -> None:
        runner = bench.run("sh", "-c", "echo ran >> ran; touch begun; while [ ! -e go ]; do sleep 0.02; done; echo late")
        id = ask(bench)
        until((bench.here / "begun").exists)
        bench.office.call(bench.ann, f"/messages/{id}/cancel", {})
        (bench.here / "go").touch()
        runner.until_said("canceled already, which is final")
        runner.until_said(f"has canceled the task {id}")
        until(lambda: bench.office.standing(bench.ann, id)["state"] == "acked")
        assert len(bench.lines("ran")) == 1

    def test_that_somebody_finished_meanwhile_is_done_with(self, bench: Bench) -> None:
        """Nothing is left to do, so nothing is left leased, to be run again and die."""
        runner = bench.run("sh", "-c", "touch begun; while [ ! -e go ]; do sleep 0.02; done; echo late")
        id = ask(bench)
        until((bench.here / "begun").exists)
        bench.office.call(bench.coder, f"/tasks/{id}/update", {"state": "completed", "content": "by hand"})
        (bench.here / "go").touch()
        runner.until_said("completed already, which is final")
        until(lambda: bench.office.standing(bench.ann, id)["state"] != "leased")
        assert bench.office.standing(bench.ann, id)["state"] == "acked"

"""Two runners talk through an office that is killed in the middle: nothing is lost, nothing is said twice."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.runner.bench import Bench
from tests.runner.office import Office, until

COUNT = 20
# Writes down what it saw and says the next number; at the chosen one it waits, so that the office dies while it works.
COUNTING = """
n=$1
echo "$n" >> "saw-$POSTOFFICE_AGENT"
if [ "$n" = "$2" ]; then touch working; sleep 0.8; fi
[ "$n" -lt 20 ] && echo $((n + 1))
true
"""


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Bench]:
    """A bench with an office of its own, to be killed."""
    (tmp_path / "office").mkdir()
    office = Office(tmp_path / "office")
    office.start()
    bench = Bench(office, tmp_path)
    yield bench
    bench.close()
    office.close()


def seen(bench: Bench, agent: str) -> list[int]:
    return [int(line) for line in bench.lines(f"saw-{agent}")]


class TestTwentyMessages:
    def test_between_two_runners_survive_a_kill_while_a_command_works(self, own: Bench) -> None:
        script = own.sh("count", COUNTING)
        runners = [own.run(script, "{message}", "9", agent=agent) for agent in (own.ann, own.coder)]
        session = own.send("1")["session_id"]
        until((own.here / "working").exists)
        own.office.kill()
        time.sleep(1)  # the command ends while nobody answers
        own.office.start()
        self.check(own, session)
        assert [runner.stop() for runner in runners] == [0, 0]

    def test_between_two_runners_survive_a_kill_at_no_matter_which_moment(self, own: Bench) -> None:
        script = own.sh("count", COUNTING)
        for agent in (own.ann, own.coder):
            own.run(script, "{message}", "-", agent=agent)
        session = own.send("1")["session_id"]
        for moment in (7, 14):
            until(lambda moment=moment: moment in seen(own, own.ann) + seen(own, own.coder), 45)  # type: ignore[misc]
            own.office.kill()
            own.office.start()
        self.check(own, session)

    def check(self, own: Bench, session: str) -> None:
        until(lambda: COUNT in seen(own, own.ann), 60)
        until(lambda: all(own.office.call(agent, "/agents/me")["leased"] == 0 for agent in (own.ann, own.coder)))
        assert seen(own, own.coder) == list(range(1, COUNT, 2))
        assert seen(own, own.ann) == list(range(2, COUNT + 1, 2))
        assert own.office.history(own.ann, session) == [str(number) for number in range(1, COUNT + 1)]
        for agent in (own.ann, own.coder):
            me = own.office.call(agent, "/agents/me")
            assert (me["unread"], me["leased"], me["dead"]) == (0, 0, 0)

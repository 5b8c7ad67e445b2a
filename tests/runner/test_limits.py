"""A CLI says that its limit is reached: the runner holds its mail until then, and a model's words never do."""

import json
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from postoffice.bridges.limit import ERRORS, limit_ends
from tests.runner.bench import Bench
from tests.runner.office import until

NOW = datetime(2026, 11, 19, 12, 0, tzinfo=UTC)
CODEX = "You've hit your usage limit. Upgrade to Plus (https://chatgpt.com/explore/plus), or try again"


@pytest.mark.parametrize(
    ("said", "end"),
    [
        ("Claude AI usage limit reached|1795100400", datetime.fromtimestamp(1795100400, UTC)),
        ("You've hit your session limit · resets 3:50pm (Asia/Tokyo)", datetime(2026, 11, 20, 15, 50, tzinfo=ZoneInfo("Asia/Tokyo"))),
        ("You've hit your limit · resets 1pm (Europe/Lisbon)", datetime(2026, 11, 19, 13, tzinfo=UTC)),
        ("You've hit your weekly limit · resets Nov 22, 8pm (America/New_York)", datetime(2026, 11, 23, 1, tzinfo=UTC)),
        ("You've hit your limit · resets Nov 23 at 4pm (America/Recife)", datetime(2026, 11, 23, 19, tzinfo=UTC)),
        ("Claude usage limit reached. Your limit will reset at 1pm (Etc/GMT+5).", datetime(2026, 11, 19, 18, tzinfo=UTC)),
        (f"{CODEX} at Nov 22nd, 2026 6:38 AM.", datetime(2026, 11, 22, 6, 38, tzinfo=UTC)),
        (f"{CODEX} at 3:52 PM.".replace("'", "\u2019"), datetime(2026, 11, 19, 15, 52, tzinfo=UTC)),
        (f"{CODEX} in 2 days 17 hours 14 minutes.", NOW + timedelta(days=2, hours=17, minutes=15)),
        (
            "You have exhausted your capacity on this model. Your quota will reset after 1h49m8s.",
            NOW + timedelta(hours=1, minutes=49, seconds=9),
        ),
    ],
)
def test_the_end_of_a_limit_is_read_as_each_cli_tells_it(said: str, end: datetime) -> None:
    assert limit_ends(said, NOW) == end


@pytest.mark.parametrize(
    "said",
    [
        "API Error: Rate limit reached",
        "Approaching usage limit · resets at 7pm",
        "You've hit your limit · resets 11:30am (UTC)",  # which has just been
        "You've hit your limit · resets 5pm (Nowhere/Land)",
        f"{CODEX} at Nov 22nd, 2025 6:38 AM.",
        f"{CODEX} later.",
        "Claude AI usage limit reached|9999999999",
        "You've hit your limit · resets some day",
        "Your quota will reset after a while",
    ],
)
def test_what_tells_no_end_or_none_to_believe_is_an_ordinary_failure(said: str) -> None:
    assert limit_ends(said, NOW) is None


@pytest.mark.parametrize(
    ("cli", "output"),
    [
        ("claude", json.dumps({"type": "result", "is_error": False, "result": "Your quota will reset after 2h"})),
        ("codex", json.dumps({"type": "item.completed", "item": {"type": "agent_message", "text": f"{CODEX} in 2 days"}})),
        ("gemini", json.dumps({"response": "Your quota will reset after 2h"})),
        ("claude", "Two lines about it:\nYou've hit your limit · resets 1pm (UTC)"),
    ],
)
def test_what_a_model_answers_is_never_taken_for_its_clis_word(cli: str, output: str) -> None:
    assert [end for said in ERRORS[cli](output, "") if (end := limit_ends(said, NOW))] == []


FAKES = {
    "claude": """print(json.dumps({"type": "result", "subtype": "success", "is_error": True, "result": f"Claude AI usage limit reached|{end}"}))""",
    "codex": """print(json.dumps({"type": "turn.failed", "error": {"message": "You've hit your usage limit. Try again in 1 hours 0 minutes."}}))
sys.exit(1)""",
    "gemini": """print("TerminalQuotaError: You have exhausted your capacity on this model. Your quota will reset after 1h0m0s.", "at x", sep="\\n", file=sys.stderr)
sys.exit(1)""",
}


@pytest.mark.parametrize("cli", FAKES)
def test_its_runner_pauses_itself_and_the_message_waits_untried(bench: Bench, cli: str) -> None:
    body = f"import json, sys, time\nopen('ran', 'a').write('ran\\n')\nend = int(time.time()) + 3600\n{FAKES[cli]}"
    bench.python(cli, body)
    runner = bench.run(flags=("--with", cli))
    runner.until_said("answering mail")
    first = bench.send()["message_id"]
    runner.until_said("mail is held until ")
    standing = until(lambda: found if (found := bench.office.standing(bench.ann, first))["attempts"] == 0 else None) or {}
    assert standing["state"] == "pending"
    end = datetime.fromisoformat(standing["paused_until"])
    assert timedelta(minutes=55) < end - datetime.now(UTC) < timedelta(minutes=65)
    assert bench.send("more")["recipients"][0]["reach"]["way"] == "paused"
    assert bench.lines("ran") == ["ran"]
    assert runner.stop() == 0

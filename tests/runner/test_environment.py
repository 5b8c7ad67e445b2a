"""What a command gets to know of the environment it is run in: strangers write what it reads."""

import os
from pathlib import Path

import pytest

from postoffice.bridges.environment import chosen
from tests.runner.bench import Bench

SECRETS = {
    "POSTOFFICE_KEY": "amb_secret-1",
    "POSTOFFICE_LEDGER_KEY": "secret-2",
    "MAILBOX_API_KEY": "secret-3",
    "OPENCLAW_GATEWAY_TOKEN": "secret-4",
    "GITHUB_TOKEN": "secret-5",
    "ANTHROPIC_API_KEY": "secret-6",
}


@pytest.fixture
def _secrets(monkeypatch: pytest.MonkeyPatch, bench: Bench) -> None:
    around = bench.environment()
    monkeypatch.setattr(bench, "environment", lambda: around | {name: value for name, value in SECRETS.items() if name != "POSTOFFICE_KEY"})


def printed(bench: Bench, *flags: str) -> dict[str, str]:
    bench.run("env", "-0", flags=flags)
    bench.send()
    (reply,) = bench.replies()
    lines = (reply["content"] or reply["parts"][0]["text"]).split("\\u0000")
    return dict(line.split("=", 1) for line in lines if line)


@pytest.mark.usefixtures("_secrets")
class TestACommand:
    def test_gets_what_programs_need_and_nothing_secret(self, bench: Bench) -> None:
        found = printed(bench)
        assert not set(SECRETS.values()) & set(found.values())
        assert (found["HOME"], found["POSTOFFICE_AGENT"], found["POSTOFFICE_SERVER"]) == (str(bench.here), bench.coder, bench.office.url)
        assert found["PATH"].startswith(f"{bench.bin}{os.pathsep}")

    def test_gets_what_it_was_promised_by_name_or_with_a_star(self, bench: Bench) -> None:
        found = printed(bench, "--env", "GITHUB_TOKEN", "--env", "ANTHROPIC_*", "--env", "POSTOFFICE_*")
        assert (found["GITHUB_TOKEN"], found["ANTHROPIC_API_KEY"]) == ("secret-5", "secret-6")
        assert "POSTOFFICE_LEDGER_KEY" not in found

    def test_of_a_model_gets_that_model_s_keys(self, bench: Bench, tmp_path: Path) -> None:
        bench.sh("claude", f"env > {tmp_path}/known; echo done")
        bench.run(flags=("--with", "claude"))
        bench.send()
        bench.replies()
        known = (tmp_path / "known").read_text()
        assert "secret-6" in known
        assert "secret-5" not in known


def test_the_office_s_own_names_are_reached_by_their_whole_name_alone() -> None:
    assert chosen(SECRETS, ["*"]).keys() == {"GITHUB_TOKEN", "ANTHROPIC_API_KEY"}
    assert chosen(SECRETS, ["POSTOFFICE_KEY"]) == {"POSTOFFICE_KEY": "amb_secret-1"}

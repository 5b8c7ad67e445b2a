"""The CI of the documentation runs as printed."""

import re
import select
import subprocess
import sys
from pathlib import Path

from tests.cli.home import Home, opened
from tests.serve.running import environment, free_port

ROOT = Path(__file__).parents[2]


def test_the_ci_hears_of_finished_work_as_printed(tmp_path: Path) -> None:
    (code,) = re.findall(r"^```python\n(.*?)^```$", (ROOT / "docs" / "webhooks.md").read_text(), re.MULTILINE | re.DOTALL)
    port = free_port()
    with opened(tmp_path / "data", extra={"POSTOFFICE_WEBHOOK_NETWORKS": "127.0.0.1"}) as office:
        home = Home(tmp_path / "home", office)
        secret = home.ask("webhook", "add", "ci", f"http://127.0.0.1:{port}/", "--event", "task")["secret"]
        code = code.replace("whsec_…", secret).replace("9000", str(port))
        with subprocess.Popen([sys.executable, "-c", code], env=environment(), stdout=subprocess.PIPE, text=True) as ci:
            try:
                task = home.ask("send", "--as", "boss", "--to", "coder", "--task", "build it")["message_id"]
                for move in ("accept", "work", "complete"):
                    home.ask("task", move, task, "--as", "coder")
                assert ci.stdout is not None
                assert select.select([ci.stdout], [], [], 60)[0]
                assert ci.stdout.readline() == f"build {task}\n"
            finally:
                ci.kill()

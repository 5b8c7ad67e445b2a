"""A process is told from another that has its number later, and a client is found behind its shells."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

from postoffice.client.process import machine, name_of, process

ASK = "from postoffice.client.process import client_process; print(client_process().pid)"


def test_a_process_that_has_ended_is_not_alive() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as running:
        found = process(running.pid)
        assert found is not None
        assert found.alive
        running.kill()
    assert not found.alive
    assert process(running.pid) is None


def test_the_same_number_begun_at_another_time_is_another_process() -> None:
    me = process(os.getpid())
    assert me is not None
    assert not type(me)(me.pid, f"{me.started}0").alive


def test_the_client_is_found_behind_the_shells_that_start_us(tmp_path: Path) -> None:
    client = tmp_path / "client.py"
    asking = shlex.join([sys.executable, "-c", ASK])
    # The shell has more to do afterwards, so that it stays in between.
    client.write_text(f"import os, subprocess\nprint(os.getpid(), flush=True)\nsubprocess.run(['sh', '-c', {asking + '; true'!r}])\n")
    done = subprocess.run([sys.executable, client], capture_output=True, text=True, check=True, timeout=60)
    own, found = done.stdout.split()
    assert own == found


def test_the_machine_and_the_name_of_a_process_are_told() -> None:
    assert machine() == machine()
    assert name_of(os.getpid())

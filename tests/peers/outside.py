"""Programs of others, where `make peers` puts them. One that is missing is a failure, never a skip."""

import os
import subprocess
from pathlib import Path
from typing import Any

import msgspec

ROOT = Path(__file__).parents[2]
FASTMCP = ROOT / ".venv-fastmcp" / "bin" / "python"
NODE = ROOT / ".venv-node" / "node_modules" / ".bin"
_PATIENCE = 100.0


def run_program(program: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run one to its end, with the Node that came with it before any other."""
    assert program.exists(), f"{program} is not there: `make peers` installs it"
    path = os.pathsep.join([str(NODE), os.environ["PATH"]])
    return subprocess.run(
        [program, *arguments], env=os.environ | {"PATH": path}, capture_output=True, text=True, timeout=_PATIENCE, check=False
    )


def answer_of(program: Path, *arguments: str) -> Any:
    """The JSON that one prints when all went well."""
    done = run_program(program, *arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    return msgspec.json.decode(done.stdout)

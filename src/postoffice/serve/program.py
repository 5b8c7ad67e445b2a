"""How the command is called from another terminal on this machine."""

import shutil
import sys
from pathlib import Path


def program() -> str:
    """The command's name or, in a virtual environment, its path: there the name works only inside the environment."""
    beside = Path(sys.executable).with_name("postoffice")
    return str(beside) if shutil.which("postoffice") is None and beside.exists() else "postoffice"

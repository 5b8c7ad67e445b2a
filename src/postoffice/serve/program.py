"""How the command is called in another terminal of this machine."""

import shutil
import sys
from pathlib import Path


def program() -> str:
    """Its name, or where it is: an environment's own commands are known by name only inside it."""
    beside = Path(sys.executable).with_name("postoffice")
    return str(beside) if shutil.which("postoffice") is None and beside.exists() else "postoffice"

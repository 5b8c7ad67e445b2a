"""The server takes as many connections as the system allows."""

import subprocess
import sys

CODE = """
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 128))
from postoffice.serve.descriptors import raise_limit
print(raise_limit(), *resource.getrlimit(resource.RLIMIT_NOFILE))
"""


def test_the_limit_goes_as_high_as_it_may_and_no_higher() -> None:
    done = subprocess.run([sys.executable, "-W", "error", "-c", CODE], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == ["128", "128", "128"]

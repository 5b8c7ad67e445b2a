"""A real postoffice on the folder that nanobots share."""

import json
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.serve.running import COMMAND, free_port, serving


@contextmanager
def office_over(mailboxes: Path, here: Path) -> Iterator[Callable[..., Any]]:
    """A way to call one of its tools by a plain POST, as whoever, while the block lasts."""
    port = free_port()
    command = (*COMMAND, "serve", "--data", str(here), "--port", str(port), "--files", str(mailboxes), "--log-level", "error")

    def call(agent: str, tool: str, **arguments: Any) -> Any:
        body = json.dumps({"tool": tool, "args": arguments}).encode()
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/agents/{agent}/mcp", data=body, timeout=30) as answer:
            return json.load(answer)

    with serving(*command, port=port, here=here):
        yield call

"""The SDK is loaded by the first call that needs it, and by nothing else."""

import asyncio
import subprocess
import sys
from pathlib import Path

import httpx

from tests.serve.running import COMMAND, free_port, serving

_LOADED = (
    "import sys, postoffice.serve.run; print(sorted({name.partition('.')[0] for name in sys.modules} & {'mcp', 'mcp_types', 'alembic'}))"
)


def test_a_server_starts_without_it() -> None:
    done = subprocess.run([sys.executable, "-c", _LOADED], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "[]\n"


async def test_all_who_call_first_at_once_are_answered(tmp_path: Path) -> None:
    port = free_port()
    listing = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    headers = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25"}
    with serving(*COMMAND, "serve", "--port", str(port), "--data", "kept", port=port, here=tmp_path):
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=60) as http:
            answers = await asyncio.gather(*(http.post(f"/agents/agent-{number}/mcp", json=listing) for number in range(20)))
            # Whoever does not need it is not kept waiting, and whoever comes later finds it there.
            assert (await http.get("/health")).status_code == 200
            answers.append(await http.post("/mcp", json=listing))
    assert all(answer.status_code == 200 and "inputSchema" in answer.text for answer in answers)

"""Windows of one folder, while the office is killed again and again: each keeps its name, and no two ever have one."""

import asyncio

import httpx
import pytest

from tests.chaos.conftest import EACH
from tests.chaos.form import chance, either
from tests.chaos.ground import Ground
from tests.chaos.office import opened
from tests.serve.running import PATIENCE

KILLS = either(2, 20)


@EACH
@pytest.mark.timeout(60 * KILLS)
async def test_two_windows_of_a_folder_never_have_one_name_however_often_the_office_is_killed(ground: Ground) -> None:
    luck = chance("windows", ground.engine)
    told: dict[int, list[tuple[str, str]]] = {1: [], 2: []}

    async def stay_open(urls: list[str], process: int, end: asyncio.Event) -> None:
        """What a bell does: say again and again what the window is, at whatever office answers."""
        window = {"client": "codex", "process": process, "started": "1", "folder": "/home/ann/shop", "machine": "laptop"}
        async with httpx.AsyncClient(timeout=PATIENCE, trust_env=False) as http:
            while not end.is_set():
                try:
                    answer = (await http.post(f"{luck.choice(urls)}/windows", json=window)).raise_for_status().json()
                    told[process].append((answer["id"], answer["agent"]))
                except (httpx.TransportError, httpx.HTTPStatusError):  # it is dead, or was killed before it could answer
                    await asyncio.sleep(0.02)

    async def several_more() -> None:
        """Until both have been told something new."""
        before = {process: len(said) for process, said in told.items()}
        async with asyncio.timeout(PATIENCE):
            while any(len(told[process]) < count + 3 for process, count in before.items()):  # noqa: ASYNC110 - counted, not signalled
                await asyncio.sleep(0.01)

    async with opened(*ground.replicas()) as replicas:
        end = asyncio.Event()
        open_windows = [asyncio.create_task(stay_open([replica.url for replica in replicas], process, end)) for process in told]
        for number in range(KILLS):
            await several_more()
            await asyncio.sleep(luck.uniform(0, 0.05))
            victim = replicas[number % len(replicas)]
            victim.kill()
            await asyncio.to_thread(victim.start)
        await several_more()
        end.set()
        await asyncio.gather(*open_windows)
    names = {process: {name for _, name in said} for process, said in told.items()}
    assert names[1] | names[2] == {"shop", "shop-2"}
    assert not names[1] & names[2]

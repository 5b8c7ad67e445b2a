"""Hints within one process."""

from postoffice.wake.local import LocalWake
from postoffice.wake.protocol import Wake


async def test_whoever_hints_hears_it_at_once() -> None:
    heard: list[frozenset[str]] = []
    wake: Wake = LocalWake()
    await wake.open(heard.append)
    wake.hint(frozenset({"bob", "cid"}))
    wake.hint(frozenset({"bob"}))
    assert heard == [{"bob", "cid"}, {"bob"}]
    await wake.close()


async def test_it_is_healthy_unless_there_may_be_others_who_do_not_hear_it() -> None:
    assert LocalWake().healthy
    assert not LocalWake(alone=False).healthy

"""One bell after another: killed, or replaced by a newer one, it leaves no letter unrung, no waiter lost, and rings for nothing that is settled."""

import os
import signal
import subprocess
import sys
import time

from tests.bridges.bell.pretend import Ground, gone, until, window
from tests.serve.running import PATIENCE

_OLDER = "import sys, postoffice; postoffice.__version__ = '0.0.1'; from postoffice.cli.main import main; sys.exit(main())"


def _killed(ground: Ground) -> int:
    bell = ground.bell
    os.kill(bell, signal.SIGKILL)
    until(lambda: gone(bell))
    return bell


def test_what_was_rung_for_before_a_kill_is_rung_for_once_more_at_most(ground: Ground) -> None:
    with window(ground) as shop:
        shop.open()
        ground.send("shop")
        until(lambda: shop.heard)
        killed = _killed(ground)
        shop.hook("Stop", stop_hook_active=True)
        until(lambda: ground.bell != killed)
        time.sleep(3)
        assert len(shop.heard) <= 2


def test_mail_that_was_settled_while_no_bell_was_there_rings_nobody(ground: Ground) -> None:
    with window(ground) as shop:
        shop.open()
        shop.say("busy")
        ground.send("shop", times=3)
        killed = _killed(ground)
        assert len(ground.take("shop")) == 3
        shop.say("idle")
        shop.hook("Stop", stop_hook_active=True)
        until(lambda: ground.bell != killed)
        time.sleep(3)
        assert shop.heard == []


def test_an_older_bell_is_replaced_with_its_windows_and_its_waiter(ground: Ground) -> None:
    older = [sys.executable, "-c", _OLDER]
    with (ground.home / "log").open("w") as log:
        bell = subprocess.Popen([*older, "bell"], env=ground.environment(), stdout=log, stderr=log)
    until((ground.home / ".cache/postoffice/bell/address.json").exists)
    with window(ground) as shop:
        waiting = shop.wait([*older, "hook", "--client", "claude"])
        until(lambda: ground.windows() == {"shop": "hook"})
        assert ground.bell == bell.pid
        shop.open()
        assert bell.wait(PATIENCE) == 0
        assert ground.bell != bell.pid
        shop.deaf()
        until(lambda: ground.windows() == {"shop": "hook"})
        ground.send("shop")
        assert waiting.wait(PATIENCE) == 2

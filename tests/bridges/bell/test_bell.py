"""The bell rings an idle window once for its mail, by the best way there is, and never with a word of it."""

import os
import signal
import subprocess
import sys
import threading
import time

from tests.bridges.bell.pretend import Ground, gone, until, window
from tests.serve.running import COMMAND, PATIENCE, free_port, serving


def test_each_letter_to_an_idle_window_begins_a_turn_that_takes_it(ground: Ground) -> None:
    with window(ground) as shop:
        assert shop.open() == "Your name in the mail is shop: other agents write to you by it."
        taken: list[str] = []
        shop.at_ring = lambda: taken.extend(ground.take("shop"))
        for number in range(5):
            (sent,) = ground.send("shop")
            until(lambda: sent in taken)  # noqa: B023 - called at once
            assert len(shop.heard) == number + 1
        assert len(set(shop.heard)) == 5, "a client may drop what it has just been told"
        assert not any("ignore" in text or "bob" in text for text in shop.heard)
        assert all("mail_get" in text for text in shop.heard)


def test_a_burst_of_fifty_is_one_ring_and_one_turn(ground: Ground) -> None:
    with window(ground) as shop:
        shop.open()
        taken: list[str] = []

        def turn() -> None:
            while len(taken) < 50:
                taken.extend(ground.take("shop"))

        shop.at_ring = turn
        for _ in range(5):
            ground.send("shop", times=10)
        until(lambda: len(taken) == 50)
        time.sleep(1.5)
        assert len(shop.heard) == 1


def test_mail_that_was_read_meanwhile_and_mail_of_low_priority_ring_nobody(ground: Ground) -> None:
    with window(ground) as shop:
        shop.open()
        shop.say("busy")
        ground.send("shop")
        ground.take("shop")
        ground.send("shop", priority=5)
        shop.say("idle")
        time.sleep(1.5)
        assert shop.heard == []
        assert "1 letter waits in your mailbox." in shop.hook("UserPromptSubmit", prompt="go on")
        assert shop.hook("UserPromptSubmit", prompt="go on") == "", "once is enough"


def test_a_ring_by_hand_rings_now_for_mail_that_rings_nobody_by_itself(ground: Ground) -> None:
    with window(ground) as shop:
        shop.open()
        until(lambda: ground.windows() == {"shop": "socket"})
        ground.send("shop", priority=5)
        time.sleep(1)
        assert shop.heard == []
        taken: list[str] = []
        shop.at_ring = lambda: taken.extend(ground.take("shop"))
        answer = ground.call("POST", "/agents/shop/ring", {})
        assert (answer["rung"], answer["text"]) == (True, "rung")
        until(lambda: taken)
        assert len(shop.heard) == 1


def test_a_ring_by_hand_is_no_second_ring_beside_one_under_way(ground: Ground) -> None:
    with window(ground) as shop:
        shop.open()
        until(lambda: ground.windows() == {"shop": "socket"})
        shop.minds = False
        ground.send("shop")
        until(lambda: shop.heard)
        answer = ground.call("POST", "/agents/shop/ring", {})
        assert (answer["rung"], answer["text"]) == (False, "a ring is under way: there is one at a time")
        assert len(shop.heard) == 1


def test_urgent_mail_is_told_to_an_agent_at_work_and_the_rest_at_its_end(ground: Ground) -> None:
    with window(ground) as shop:
        shop.open()
        shop.hook("UserPromptSubmit", prompt="work")
        shop.say("busy")
        ground.send("shop")
        assert shop.hook("PostToolUse", tool_name="Bash") == ""
        ground.send("shop", priority=1)
        assert "Urgent mail: 1 letter" in shop.hook("PostToolUse", tool_name="Bash")
        assert "1 letter waits" in shop.hook("Stop", stop_hook_active=False)
        assert shop.hook("Stop", stop_hook_active=True) == ""
        assert shop.heard == []


def test_a_letter_that_comes_while_a_turn_begins_is_told_at_its_end(ground: Ground) -> None:
    with window(ground) as shop:
        shop.open()
        over = threading.Event()
        shop.at_ring = lambda: over.wait(PATIENCE)  # type: ignore[assignment]
        ground.send("shop")
        until(lambda: shop.heard)
        ground.send("shop")
        assert shop.hook("UserPromptSubmit", prompt=shop.heard[0]) == ""
        assert "1 letter waits" in shop.hook("Stop", stop_hook_active=False)
        over.set()


def test_with_its_inbox_gone_a_window_is_woken_by_the_hook_and_then_by_nothing(ground: Ground) -> None:
    with window(ground) as shop:
        shop.open()
        waiting = shop.wait()
        until(lambda: ground.windows() == {"shop": "socket"})
        shop.deaf()
        ground.send("shop")
        assert waiting.wait(PATIENCE) == 2
        assert "Mail waits in your mailbox." in shop.said.read_text()
        until(lambda: ground.windows() == {"shop": "none"})
        assert "nothing wakes it" in ground.reach("shop")


def test_an_inbox_that_swallows_what_it_hears_gives_way_to_the_hook(ground: Ground) -> None:
    with window(ground) as shop:
        shop.open()
        waiting = shop.wait()
        until((ground.home / f".cache/postoffice/bell/waiter-{shop.pid}.lock").exists)
        time.sleep(1)
        shop.minds = False
        ground.send("shop")
        assert waiting.wait(PATIENCE) == 2
        assert len(shop.heard) == 1
        until(lambda: ground.windows() == {"shop": "none"})
        assert "nothing wakes it" in ground.reach("shop")


def test_ten_letters_to_a_window_that_nothing_wakes_are_rung_once_a_way_opens(ground: Ground) -> None:
    with window(ground) as shop:
        shop.open()
        shop.deaf()
        ground.send("shop", times=10)
        until(lambda: ground.windows() == {"shop": "none"})
        waiting = shop.wait()
        assert waiting.wait(PATIENCE) == 2
        assert shop.said.read_text().count("Mail waits") == 1


def test_one_hook_waits_for_a_window_however_many_turns_start_one(ground: Ground) -> None:
    with window(ground) as shop:
        shop.open()
        first = shop.wait()
        until((ground.home / f".cache/postoffice/bell/waiter-{shop.pid}.lock").exists)
        time.sleep(1)
        later = [shop.wait() for _ in range(4)]
        assert [one.wait(PATIENCE) for one in later] == [0] * 4
        assert first.poll() is None
        shop.close()
        assert first.wait(PATIENCE) == 0


def test_what_the_client_holds_for_its_user_is_rung_by_no_other_way(ground: Ground) -> None:
    with window(ground) as shop:
        shop.open()
        waiting = shop.wait()
        shop.hook("UserPromptSubmit", prompt="x", permission_mode="bypassPermissions")
        until(lambda: ground.windows() == {"shop": "none"})
        ground.take("shop")
        ground.send("shop")
        time.sleep(1.5)
        assert shop.heard == []
        assert waiting.poll() is None
        (ground.home / ".claude" / "settings.json").write_text('{"crossSessionInbound": "accept"}')
        ground.send("shop")
        until(lambda: shop.heard)


def test_doctor_finds_a_window_that_nothing_wakes(ground: Ground) -> None:
    def doctor() -> str:
        words = [*COMMAND, "doctor", "--as", "bob", "--json"]
        return subprocess.run(words, env=ground.environment(), capture_output=True, text=True, check=False).stdout

    with window(ground) as shop:
        shop.open()
        waiting = shop.wait()
        until(lambda: ground.cards()[0]["reach"] == "socket")
        assert '"window"' not in doctor()
        shop.deaf()
        until(lambda: "shop: its inbox is closed to us; its hook still wakes it" in doctor())
        waiting.kill()
        until(lambda: "shop: mail does not wake it: claude-code has closed the way" in doctor())


def test_a_killed_bell_comes_back_and_rings_for_what_came_meanwhile(ground: Ground) -> None:
    with window(ground) as shop:
        shop.open()
        waiting = shop.wait()
        until(lambda: ground.windows() == {"shop": "socket"})
        killed = ground.bell
        os.kill(killed, signal.SIGKILL)
        ground.send("shop")
        until(lambda: shop.heard)
        assert ground.bell != killed
        time.sleep(1.5)
        assert len(shop.heard) == 1
        assert waiting.poll() is None


def test_an_office_that_was_away_leaves_no_letter_unrung(ground: Ground) -> None:
    port, here = free_port(), ground.home
    ground.server = f"http://127.0.0.1:{port}"
    command = (*COMMAND, "serve", "--data", str(here / "office"), "--port", str(port), "--log-level", "error")
    with window(ground) as shop:
        with serving(*command, port=port, here=here):
            shop.open()
            shop.say("busy")
            ground.send("shop")
        with serving(*command, port=port, here=here):
            shop.say("idle")
            until(lambda: shop.heard, 40)
            assert len(shop.heard) == 1


def test_two_windows_in_one_folder_have_a_name_and_mail_each(ground: Ground) -> None:
    with window(ground) as first, window(ground) as second:
        assert "is shop:" in first.open()
        assert "is shop-2:" in second.open()
        ground.send("shop-2")
        until(lambda: second.heard)
        assert first.heard == []
        assert ground.take("shop") == []


def test_of_windows_that_share_a_mailbox_the_one_that_rested_longest_is_rung(ground: Ground) -> None:
    both = ("--as", "coder", "--shared")
    taken: list[str] = []
    with window(ground, words=both) as first, window(ground, words=both) as second:
        for one in (first, second):
            assert "is coder:" in one.open()
            one.at_ring = lambda: taken.extend(ground.take("coder"))
        for number, (rung, other) in enumerate([(first, second), (second, first), (first, second)]):
            ground.send("coder")
            until(lambda: len(rung.heard) == number // 2 + 1)  # noqa: B023 - called at once
            rung.hook("Stop", stop_hook_active=False)
            assert len(other.heard) == (number + 1) // 2
        second.at_ring = lambda: None
        ground.send("coder")
        until(lambda: len(second.heard) == 2)
        time.sleep(1.5)
        assert (len(first.heard), len(second.heard)) == (2, 2), "not by the other either, while it waits"


def test_after_the_machine_slept_a_letter_is_rung_for_once(ground: Ground) -> None:
    woken = ground.home / "woken"
    slept = f"import pathlib, time; at = time.time; time.time = lambda: at() + 3600 * pathlib.Path({str(woken)!r}).exists()"
    words = [sys.executable, "-c", f"{slept}; from postoffice.cli.main import main; main()", "bell"]
    with (ground.home / "log").open("w") as log:
        bell = subprocess.Popen(words, env=ground.environment(), stdout=log, stderr=log)
    with window(ground) as shop:
        until((ground.home / ".cache/postoffice/bell/address.json").exists)
        shop.open()
        taken: list[str] = []
        shop.at_ring = lambda: taken.extend(ground.take("shop"))
        assert ground.bell == bell.pid
        shop.say("busy")
        ground.send("shop")
        woken.touch()
        until(lambda: "was asleep" in (ground.home / "log").read_text())
        shop.say("idle")
        until(lambda: shop.heard)
        time.sleep(6)
        assert len(shop.heard) == 1
        ground.send("shop")
        until(lambda: len(shop.heard) == 2)
    bell.terminate()
    bell.wait(PATIENCE)


def test_a_window_ends_with_its_process_and_the_bell_with_a_signal(ground: Ground) -> None:
    with window(ground) as shop:
        shop.open()
        until(lambda: "shop" in ground.windows())
    until(lambda: ground.windows() == {}, 15)
    bell = ground.bell
    os.kill(bell, signal.SIGTERM)
    until(lambda: gone(bell))

"""All that waits for a person, at the command: seen as one list, and two models or a ring of three that are held may go on."""

from collections.abc import Iterator
from itertools import cycle, islice, pairwise
from typing import Any

import httpx
import pytest

from tests.cli.home import Home, opened
from tests.cli.terminal import plain, seen
from tests.runner.office import until

ASKED, HELD = 6, 8


@pytest.fixture(scope="module")
def terse(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """Somebody's home whose office soon asks."""
    folder = tmp_path_factory.mktemp("terse")
    with opened(folder / "data", extra={"POSTOFFICE_TALK_ASKED": str(ASKED), "POSTOFFICE_TALK_HELD": str(HELD)}) as office:
        yield Home(folder / "home", office)


def says(home: Home, who: str, to: str) -> httpx.Response:
    """A letter by a model's own tool."""
    body = {"tool": "mail_send", "args": {"to": to, "text": "and you?"}}
    return httpx.post(f"{home.office.url}/mail/{who}", json=body, headers={"X-Agent": who}, timeout=30)


def talk(home: Home, *ring: str, rounds: int) -> list[bool]:
    """Each writes to the next, round and round; whether each letter was accepted."""
    ways = islice(pairwise(cycle(ring)), rounds * len(ring))
    return [says(home, who, to).is_success for who, to in ways]


def asked_about(home: Home) -> list[dict[str, Any]]:
    """What the owner is asked, once the upkeep has asked it."""
    return list(until(lambda: home.ask("questions")["questions"]))


def settled(home: Home) -> None:
    """Nothing waits for the owner from tests before."""
    assert plain(seen(home, "for-you")) == "Nobody waits for you.\n"


def test_two_who_are_asked_about_go_on_by_one_word(terse: Home) -> None:
    settled(terse)
    assert all(talk(terse, "ann", "ben", rounds=HELD // 2))
    assert not says(terse, "ann", "ben").is_success
    (question,) = asked_about(terse)
    assert question["subject"] == "ann and ben"
    assert "asks: postoffice answer ID 'CHOICE OR WORDS'" in plain(seen(terse, "for-you"))
    assert terse.ask("go-on", "ANN") == {"freed": "ann and ben"}
    assert says(terse, "ann", "ben").is_success
    settled(terse)


def test_two_who_are_held_go_on_over_rest_and_the_command(terse: Home) -> None:
    settled(terse)
    for free in ("rest", "command"):
        talk(terse, "cat", "dan", rounds=HELD)
        (question,) = asked_about(terse)
        terse.ask("answer", question["id"][-6:], "stop")
        (held,) = terse.ask("for-you")["matters"]
        assert (held["kind"], held["can"]) == ("held", ["go_on", "write"])
        assert "cat, dan" in plain(seen(terse, "for-you"))
        assert not says(terse, "cat", "dan").is_success
        path = f"{terse.office.url}/sessions/{held['id']}/go-on"
        assert httpx.post(path, headers={"X-Agent": "cat"}, timeout=30).json()["code"] == "owner_only"
        if free == "rest":
            owner = {"X-API-Key": terse.office.owner_key}
            assert httpx.post(path, headers=owner, timeout=30).json() == {"session_id": held["id"], "freed": True}
            assert httpx.post(path, headers=owner, timeout=30).json() == {"session_id": held["id"], "freed": False}
        else:
            assert plain(seen(terse, "go-on", held["id"][-6:])) == "cat and dan may go on.\n"
        assert says(terse, "cat", "dan").is_success
        settled(terse)


def test_a_ring_of_three_is_caught_asked_about_once_and_goes_on(terse: Home) -> None:
    settled(terse)
    accepted = talk(terse, "eve", "fay", "gus", rounds=HELD * 2)
    assert not all(accepted), "it is held"
    assert len(asked_about(terse)) == 1
    terse.ask("go-on")
    assert all(talk(terse, "eve", "fay", "gus", rounds=1))
    settled(terse)


def test_where_nobody_is_held_that_is_said(terse: Home) -> None:
    settled(terse)
    assert "nobody is held" in terse.refused(65, "go-on")

"""What is told at a notify address, when, and that what agents wrote is data in it."""

from datetime import UTC, datetime, timedelta

import pytest

from postoffice.core.errors import Invalid
from postoffice.core.event import Event, Kind
from postoffice.core.message import Message
from postoffice.core.notify import Line, Manner, NotifyKind, Stuck, candidate_of, check_address, check_quiet, harmless, may_be_told, words
from postoffice.core.question import Ask

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
PAUSE = timedelta(minutes=5)


def event(kind: Kind, whose: str = "owner", **data: object) -> Event:
    return Event(agent=whose, number=1, cursor="0.1", kind=kind, ref="x", at=NOON, data=data)


def letter(**fields: object) -> Message:
    return Message(id="x", sender="coder", to="owner", created_at=NOON, from_verified=True, **fields)  # type: ignore[arg-type]


class TestWhatItMayBe:
    @pytest.mark.parametrize(
        ("message", "matter"),
        [(letter(), NotifyKind.MAIL), (letter(type="task"), NotifyKind.TASK), (letter(ask=Ask(choices=("yes",))), NotifyKind.QUESTION)],
    )
    def test_a_letter_to_the_owner_is_what_it_asks_for(self, message: Message, matter: NotifyKind) -> None:
        found = candidate_of(event(Kind.NEW_MESSAGE), message)
        assert found is not None
        assert found.matter is matter
        assert candidate_of(event(Kind.NEW_MESSAGE, "bob"), message) is None, "others' mail is theirs"

    def test_requests_and_what_is_stuck_are_the_owners_wherever_they_are(self) -> None:
        found = [
            candidate_of(event(kind, "bob", **data), None)
            for kind, data in (
                (Kind.CONNECTION_REQUEST, {}),
                (Kind.DEAD_LETTER, {"reason": "refused"}),
                (Kind.STUCK, {"what": "silent", "agent": "carol"}),
                (Kind.DEAD_LETTER, {"reason": "canceled"}),
                (Kind.RECEIPT, {}),
            )
        ]
        told = [None if one is None else (one.matter, one.agent, one.stuck) for one in found]
        assert told == [
            (NotifyKind.CONSENT, "bob", None),
            (NotifyKind.STUCK, "bob", Stuck.DEAD),
            (NotifyKind.STUCK, "carol", Stuck.SILENT),
            None,
            None,
        ]


class TestWhen:
    @pytest.mark.parametrize(
        ("quiet", "zone", "may"),
        [
            (None, "", True),
            ("11:00-13:00", "UTC", False),
            ("22:00-07:00", "UTC", True),
            ("22:00-12:01", "UTC", False),
            ("21:00-22:00", "Asia/Tokyo", False),
            ("13:00-14:00", "Europe/London", False),
        ],
    )
    def test_quiet_hours_are_the_hours_of_their_own_zone(self, quiet: str | None, zone: str, *, may: bool) -> None:
        assert may_be_told(Manner(service="ntfy", quiet=quiet, zone=zone), None, NOON, PAUSE) is may

    def test_one_word_at_most_in_a_while(self) -> None:
        manner = Manner(service="ntfy")
        assert not may_be_told(manner, NOON - PAUSE + timedelta(seconds=1), NOON, PAUSE)
        assert may_be_told(manner, NOON - PAUSE, NOON, PAUSE)
        assert may_be_told(manner, NOON, NOON, timedelta(0))

    @pytest.mark.parametrize(
        ("quiet", "zone"), [("22-25", ""), ("22:00", ""), ("late", ""), (None, "Mars/Olympus"), (None, "../etc/passwd")]
    )
    def test_hours_and_zones_that_nobody_could_keep_are_refused(self, quiet: str | None, zone: str) -> None:
        with pytest.raises(Invalid):
            check_quiet(quiet, zone)


class TestTheWords:
    def test_one_thing_is_its_own_title(self) -> None:
        line = Line(matter=NotifyKind.QUESTION, who="coder", what="Release", link="https://mail.example.com/page/answer/t_o-k")
        assert words([line], 0, "https://mail.example.com") == ("coder asks you", "Release\nhttps://mail.example.com/page/answer/t_o-k")

    def test_of_several_each_has_a_line_and_the_rest_is_counted(self) -> None:
        lines = [
            Line(matter=NotifyKind.QUESTION, who="coder", what="Release", link="https://x/l"),
            Line(matter=NotifyKind.CONSENT, who="scout", whom="docs", what=""),
            Line(matter=NotifyKind.STUCK, who="nightly", whom="coder", what="Build"),
        ]
        title, text = words(lines, 4, "https://x")
        assert title == "7 things wait for you"
        assert text.splitlines() == [
            "coder asks you: Release",
            "https://x/l",
            "scout asks to write to docs",
            "Stuck: nightly to coder: Build",
            "and 4 more",
            "For you: https://x/",
        ]

    def test_without_a_public_address_there_is_no_link(self) -> None:
        assert words([Line(matter=NotifyKind.MAIL, who="docs", what="")], 0, None) == ("docs wrote to you", "docs wrote to you")

    @pytest.mark.parametrize(
        "hostile",
        [
            "<!channel> @everyone",
            "[click](https://evil.example)",
            "see https://evil.example/x?y or www.evil.example",
            "*bold* _it_ `code` ~no~ |spoiler| # head & <b>html</b>",
            "mailto:a@evil.example tel:123 javascript:alert",
            "two\nlines\r\nFor you: x\u2028and\u202eback\x1b[31m",
            "\\@here",
        ],
    )
    def test_what_agents_wrote_is_one_line_that_formats_links_and_calls_nobody(self, hostile: str) -> None:
        shown = harmless(hostile, 500)
        assert not set(shown) & set("@<>&#*_~`|[]\\\n\r\x1b\u2028\u202e")
        assert "://" not in shown
        assert "evil.example" not in shown
        assert "mailto:" not in shown
        assert "javascript:" not in shown

    def test_plain_words_stay_as_they_are(self) -> None:
        assert harmless("Ship 1.4 today, at 10:30? It's done: really.", 500) == "Ship 1.4 today, at 10:30? It's done: really."
        assert harmless("x" * 30, 10) == "x" * 9 + "…"


@pytest.mark.parametrize("address", ["", "phone", "ntfy://x\n", "ntfy://" + "x" * 3000])
def test_what_can_be_no_address_is_refused(address: str) -> None:
    with pytest.raises(Invalid):
        check_address(address)

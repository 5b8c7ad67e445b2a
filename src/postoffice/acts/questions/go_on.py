"""Whether two models should go on: the owner is asked once, and decides."""

import msgspec

from postoffice.acts.act import Act
from postoffice.acts.desk import Desk
from postoffice.acts.mail.moves import keep, post
from postoffice.acts.needs import Needs
from postoffice.acts.questions.closing import AnswerQuestion
from postoffice.acts.questions.opening import open_question
from postoffice.acts.rules.endless import hold_talk, refresh_talk
from postoffice.core.endless import GO_ON, STOP
from postoffice.core.message import QUESTION, Message
from postoffice.core.names import OWNER, SYSTEM, is_list
from postoffice.core.question import Ask, Question
from postoffice.core.session import pair

_encode = msgspec.json.Encoder().encode


class LongTalk(msgspec.Struct, frozen=True):
    """A session whose agents write to each other without end."""

    session_id: str
    low: str
    high: str
    letters: int

    def ask(self, needs: Needs) -> None:
        """Have what they remember at hand, locked."""
        if is_list(self.low):
            needs.lists.add(self.low)
        else:
            needs.boxes.update((self.low, self.high))
        needs.memories.update((self.low, self.high))

    @property
    def between(self) -> list[str]:
        """The two, or the list whose session it is."""
        return list(dict.fromkeys((self.low, self.high)))

    @property
    def whose(self) -> str:
        """The same in words."""
        return " and ".join(self.between)

    @property
    def what_happened(self) -> str:
        """Why the owner is asked."""
        if is_list(self.low):
            return f"Models on {self.low} have answered each other with {self.letters} letters within an hour"
        return f"{self.whose} have sent each other {self.letters} letters within an hour"


class AskGoOn(Act[str]):
    """Ask the owner whether they should go on. Gives the question's id."""

    def __init__(self, talk: LongTalk) -> None:
        self.talk = talk

    def ask(self, needs: Needs) -> None:
        needs.boxes.update((SYSTEM, OWNER))

    def ask_more(self, needs: Needs, desk: Desk) -> None:  # noqa: ARG002 - as every act is asked
        needs.thread_keys.add((*pair(SYSTEM, OWNER), ""))

    def run(self, desk: Desk) -> str:
        talk = self.talk
        message = Message(
            id=desk.clock.new_id(),
            sender=SYSTEM,
            to=OWNER,
            created_at=desk.at,
            from_verified=True,
            type=QUESTION,
            subject=talk.whose,
            content=f"{talk.what_happened}, and no person has said a word. Should they go on?",
            payload={"kind": "long_talk", "session_id": talk.session_id, "between": talk.between, "letters": talk.letters},
            trace=(SYSTEM,),
            ask=Ask(choices=(GO_ON, STOP), text=False),
        )
        body = _encode(message).decode()
        keep(desk, message, SYSTEM, body)
        thread = desk.thread_of(SYSTEM, OWNER, "")
        post(desk, message, body, SYSTEM, desk.boxes[OWNER], thread)
        open_question(desk, message, SYSTEM, desk.boxes[OWNER], None if thread is None else thread.id)
        desk.write("ask_long_talk", (talk.session_id, message.id), talk.session_id)
        return message.id


class GoOn(Act[None]):
    """Two who were held may go on: all begins anew."""

    def __init__(self, talk: LongTalk) -> None:
        self.talk = talk

    def ask(self, needs: Needs) -> None:
        self.talk.ask(needs)

    def run(self, desk: Desk) -> None:
        refresh_talk(desk, self.talk.low, self.talk.high)


class AnswerGoOn(AnswerQuestion):
    """The owner decides: the two begin anew, or are held until a person says something."""

    talk: LongTalk | None = None

    def about(self, talk: LongTalk | None) -> "AnswerGoOn":
        """Say which session it is about; none if that ended by itself."""
        self.talk = talk
        return self

    def ask(self, needs: Needs) -> None:
        super().ask(needs)
        if self.talk is not None:
            self.talk.ask(needs)

    def run(self, desk: Desk) -> Question:
        closed = super().run(desk)
        if self.talk is not None:
            low, high = self.talk.low, self.talk.high
            if self.answer.choice == GO_ON:
                refresh_talk(desk, low, high)
            else:
                hold_talk(desk, self.talk.session_id, low)
                desk.write("put_long_talk", (self.talk.session_id, low, high, self.talk.letters, desk.now, desk.now), self.talk.session_id)
        return closed

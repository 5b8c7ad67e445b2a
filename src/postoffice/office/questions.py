"""Verbs about questions to people."""

from postoffice.acts.questions.closing import AnswerQuestion, WithdrawQuestion
from postoffice.acts.questions.go_on import AnswerGoOn, GoOn
from postoffice.core.agent import Caller
from postoffice.core.endless import GO_ON
from postoffice.core.errors import Forbidden, NoSuchQuestion, OwnerOnly
from postoffice.core.names import OWNER, SYSTEM, folded
from postoffice.core.policy import Auth
from postoffice.core.question import OPEN_OFFICE, Answer, Question, QuestionState, read_answer
from postoffice.core.views import Page
from postoffice.office.checks import Checks
from postoffice.office.persons import Persons
from postoffice.office.short_ids import ShortIds
from postoffice.store.store import Store


class Questions:
    """A question is sent as a letter that asks (`Draft.ask`), and answered once, by a person."""

    def __init__(self, store: Store, checks: Checks, short_ids: ShortIds, persons: Persons, auth: Auth) -> None:
        self._store = store
        self._checks = checks
        self._short_ids = short_ids
        self._persons = persons
        self._auth = auth

    async def questions(
        self,
        caller: Caller,
        *,
        asked_by_me: bool = False,
        everyone: bool = False,
        state: QuestionState | None = QuestionState.OPEN,
        cursor: str | None = None,
        limit: int | None = None,
    ) -> Page[Question]:
        """Questions to the caller, or by it, or, for the owner, everyone's; open ones unless told otherwise, newest first."""
        all_of_them = self._checks.everyone(caller, wanted=everyone)
        person = None if all_of_them or asked_by_me else caller.name
        asker = caller.name if asked_by_me and not all_of_them else None
        return await self._store.questions.page(person=person, asker=asker, state=state, cursor=cursor, limit=self._checks.page(limit))

    async def question(self, caller: Caller, id: str) -> Question:
        """One question, for whoever asked it or was asked; the owner sees any."""
        return await self._short_ids.named(
            None if caller.owner else caller.name, self._checks.ref(id), lambda whole: self._question(caller, whole)
        )

    async def _question(self, caller: Caller, id: str) -> Question:
        question = await self._store.questions.named(id)
        if question is None or not (caller.owner or folded(caller.name) in (folded(question.asker), folded(question.person))):
            raise NoSuchQuestion(ref=id, name=caller.name)
        return question

    async def answer(
        self,
        caller: Caller,
        id: str,
        *,
        choice: str | None = None,
        text: str | None = None,
        client_id: str | None = None,
        via: str | None = None,
    ) -> Question:
        """Answer a question as the person it was put to, or as the owner. The first answer counts, by whichever door it comes."""
        question = await self.question(caller, id)
        if not caller.owner:
            await self._persons.check_person(caller)
            if folded(caller.name) != folded(question.person):
                raise Forbidden(name=caller.name, why=f"it is {question.person} who was asked")
        chosen, said = read_answer(question.ask, choice, text)
        proven = self._auth is Auth.KEYS or caller.key is not None
        by = (OWNER if caller.owner else caller.name) if proven else OPEN_OFFICE
        answer = Answer(question=question.id, state=QuestionState.ANSWERED, by=by, choice=chosen, text=said)
        own_id = None if client_id is None else self._checks.ref(client_id)
        if folded(question.asker) != SYSTEM:
            return await self._store.do(AnswerQuestion(question, answer, caller.name, own_id, via, verified=proven))
        talk = await self._store.endless.of_question(question.id)
        return await self._store.do(AnswerGoOn(question, answer, caller.name, own_id, via, verified=proven).about(talk))

    async def go_on(self, owner: Caller, session: str) -> bool:
        """Free a session that is held, and its two agents. If the owner was asked about them, this is the answer. Says whether there was anything to free."""
        self._checks.owner_only(owner, "free a session that is held")
        talk = await self._store.endless.of_session(session)
        if talk is None:
            return False  # a person's word freed it meanwhile
        asked = await self._store.endless.asked_beside(talk)
        if asked is not None:
            await self.answer(owner, asked, choice=GO_ON)
        await self._store.do(GoOn(talk))
        return True

    async def withdraw_question(self, caller: Caller, id: str) -> Question:
        """Take a question back, as whoever asked it."""
        question = await self.question(caller, id)
        if not caller.owner and folded(caller.name) != folded(question.asker):
            raise OwnerOnly(what=f"take back what {question.asker} asked")
        return await self._store.do(WithdrawQuestion(question))

"""Links in notifications: each opens one question, and is the owner's to take back."""

import secrets
from collections.abc import Sequence

from postoffice.acts.webhooks.links import KeepLinks, RevokeLink
from postoffice.core.agent import Caller, code_hash
from postoffice.core.clock import Clock
from postoffice.core.errors import BadAnswerLink, NoLogin
from postoffice.core.names import OWNER
from postoffice.core.notify import AnswerLink, NewLink
from postoffice.core.question import Question
from postoffice.office.checks import Checks
from postoffice.office.questions import Questions
from postoffice.office.rules import OfficeRules
from postoffice.store.store import Store

_TOKEN_BYTES = 32
_SHOWN = 200


class AnswerLinks:
    """Of each only the hash is kept. Without a public address there are none."""

    def __init__(self, store: Store, checks: Checks, rules: OfficeRules, clock: Clock, questions: Questions) -> None:
        self._store = store
        self._checks = checks
        self._rules = rules
        self._clock = clock
        self._questions = questions

    @property
    def lead_to(self) -> str | None:
        """The office's public address; nothing where none is set."""
        return self._rules.public_url

    async def all(self, caller: Caller) -> tuple[AnswerLink, ...]:
        """Every link that still opens a question, the newest first."""
        self._checks.owner_only(caller, "see links that open questions")
        return await self._store.webhooks.links(_SHOWN)

    async def revoke(self, caller: Caller, id: str) -> None:
        """Have a link open nothing any more."""
        self._checks.owner_only(caller, "take back links that open questions")
        await self._store.do(RevokeLink(id))

    async def opened(self, token: str) -> AnswerLink:
        """What a link opens. To ask consumes nothing: previews do it too."""
        link = await self._store.webhooks.link(code_hash(token))
        if link is None:
            raise BadAnswerLink
        return link

    async def question(self, link: AnswerLink) -> Question:
        """The question behind a link that needs no login. Any other leads to the page, which asks who it is."""
        return await self._questions.question(_owner_by(link), link.question)

    async def answer(self, token: str, *, choice: str | None = None, text: str | None = None, once: str | None = None) -> Question:
        """Answer by a link that needs no login, as the owner. `once` names this answer: repeated, it is the same."""
        link = await self.opened(token)
        client_id = None if once is None else f"{once}-{link.question}"
        return await self._questions.answer(_owner_by(link), link.question, choice=choice, text=text, client_id=client_id, via="link")

    async def made(self, webhook: str, questions: Sequence[str]) -> dict[str, str]:
        """A new link for each of these questions, to be told to an address; nothing where they would lead nowhere."""
        if self._rules.public_url is None or not questions:
            return {}
        tokens = {question: secrets.token_urlsafe(_TOKEN_BYTES) for question in questions}
        rows = [NewLink(id=self._clock.new_id(), hash=code_hash(token), question=question) for question, token in tokens.items()]
        await self._store.do(KeepLinks(webhook, tuple(rows), self._rules.limits.answer_link_life))
        return {question: f"{self._rules.public_url}/page/answer/{token}" for question, token in tokens.items()}


def _owner_by(link: AnswerLink) -> Caller:
    if not link.trusted:
        raise NoLogin
    return Caller(OWNER, verified=True, owner=True)

"""A link in a notification opens one question, for as long as it lasts and nobody has taken it back."""

from datetime import timedelta

import pytest

from postoffice.core.agent import Caller, code_hash
from postoffice.core.errors import BadAnswerLink, NoLogin, NoSuchAnswerLink
from postoffice.core.policy import Auth
from postoffice.core.question import QuestionState
from postoffice.office import PostOffice
from tests.engines import Engine
from tests.notify.offices import asks, opened, settled, telling
from tests.notify.told import json_at, token_in, told
from tests.webhooks.receiver import Receiver


class TestLinks:
    @staticmethod
    async def link(office: PostOffice, receiver: Receiver, *, trusted: bool) -> tuple[str, str]:
        """A token as an address was told it, and its question."""
        coder = await office.identify(name="coder") if office.rules.auth is Auth.OPEN else Caller("coder", verified=True)
        await office.notify.add(office.owner(), "phone", json_at(receiver), trusted=trusted)
        async with telling(office):
            id = await asks(office, coder)
            await told(receiver)
            await settled(office)
        return token_in(receiver), id

    async def test_of_a_link_the_hash_is_kept_and_it_ends(self, engine: Engine, receiver: Receiver) -> None:
        async with opened(engine) as office:
            token, id = await self.link(office, receiver, trusted=True)
            (link,) = await office.answer_links.all(office.owner())
            assert (link.question, link.name, link.trusted) == (id, "phone", True)
            assert token not in str(link)
            assert await office.store.webhooks.link(code_hash(token)) == link
            with pytest.raises(BadAnswerLink):
                await office.answer_links.opened(token[:-1])
            await engine.advance(timedelta(days=3, seconds=1))
            with pytest.raises(BadAnswerLink):
                await office.answer_links.answer(token, choice="wait")
            assert await office.answer_links.all(office.owner()) == ()

    async def test_a_link_that_was_taken_back_opens_nothing(self, engine: Engine, receiver: Receiver) -> None:
        async with opened(engine) as office:
            token, _ = await self.link(office, receiver, trusted=True)
            (link,) = await office.answer_links.all(office.owner())
            await office.answer_links.revoke(office.owner(), link.id)
            for call in (office.answer_links.opened(token), office.answer_links.answer(token, choice="wait")):
                with pytest.raises(BadAnswerLink):
                    await call
            with pytest.raises(NoSuchAnswerLink):
                await office.answer_links.revoke(office.owner(), link.id)

    async def test_with_its_address_a_link_is_gone(self, engine: Engine, receiver: Receiver) -> None:
        async with opened(engine) as office:
            token, _ = await self.link(office, receiver, trusted=True)
            await office.notify.remove(office.owner(), "phone")
            with pytest.raises(BadAnswerLink):
                await office.answer_links.answer(token, choice="wait")

    async def test_the_link_of_an_address_without_trust_answers_nothing_by_itself(self, engine: Engine, receiver: Receiver) -> None:
        async with opened(engine) as office:
            token, id = await self.link(office, receiver, trusted=False)
            with pytest.raises(NoLogin):
                await office.answer_links.answer(token, choice="wait")
            assert (await office.question(office.owner(), id)).state is QuestionState.OPEN

    async def test_where_keys_are_required_a_trusted_link_answers_as_the_owner(self, engine: Engine, receiver: Receiver) -> None:
        async with opened(engine, auth=Auth.KEYS) as office:
            await office.register("coder")
            token, _ = await self.link(office, receiver, trusted=True)
            answered = await office.answer_links.answer(token, text="later")
            assert (answered.by, answered.answer, answered.via) == ("owner", "later", "link")

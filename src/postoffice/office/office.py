"""PostOffice: every verb by its name, and the office's opening hours."""

import asyncio
from typing import Self

from postoffice.core.clock import Clock
from postoffice.core.policy import Auth
from postoffice.office.agents import Agents
from postoffice.office.alarm import Alarm
from postoffice.office.answer_links import AnswerLinks
from postoffice.office.attachments import Attachments
from postoffice.office.bells import Bells
from postoffice.office.board import Board
from postoffice.office.bulk import Bulk
from postoffice.office.callers import Callers
from postoffice.office.cancellations import Cancellations
from postoffice.office.checks import Checks
from postoffice.office.connections import Connections
from postoffice.office.dead_letters import DeadLetters
from postoffice.office.deliveries import Deliveries
from postoffice.office.directory import Directory
from postoffice.office.entities import Entities
from postoffice.office.foreign import ForeignAgents
from postoffice.office.health import STORE_ANSWER_SECONDS, Health
from postoffice.office.hooks import Hooks
from postoffice.office.identity import Identities
from postoffice.office.invites import Invites
from postoffice.office.keys import Keys
from postoffice.office.ledger import Ledger
from postoffice.office.lending import Lending
from postoffice.office.lists import Lists
from postoffice.office.logins import Logins
from postoffice.office.machines import Machines
from postoffice.office.mailboxes import Mailboxes
from postoffice.office.news import News
from postoffice.office.notify import NotifyAddresses
from postoffice.office.overview import Overview
from postoffice.office.pauses import Pauses
from postoffice.office.persons import Persons
from postoffice.office.places import Places
from postoffice.office.presences import Presences
from postoffice.office.proofs import Proofs
from postoffice.office.questions import Questions
from postoffice.office.reachability import Reachability
from postoffice.office.recurring import RecurringLetters
from postoffice.office.reservations import Reservations
from postoffice.office.rings import Rings
from postoffice.office.roles import Roles
from postoffice.office.rota import Rota
from postoffice.office.rules import OfficeRules
from postoffice.office.search import Search
from postoffice.office.sending import Sending
from postoffice.office.sessions import Sessions
from postoffice.office.short_ids import ShortIds
from postoffice.office.tallies import Tallies
from postoffice.office.tasks import Tasks
from postoffice.office.trace import Trace
from postoffice.office.upkeep import Upkeep
from postoffice.office.waits import Waits
from postoffice.office.webhooks import Webhooks
from postoffice.office.windows import Windows
from postoffice.store.store import Store
from postoffice.wake.protocol import Wake


class PostOffice:
    """One office over one store. `async with` opens and closes it."""

    def __init__(self, store: Store, wake: Wake, rules: OfficeRules | None = None, trace: Trace | None = None) -> None:  # noqa: PLR0915 - a table of contents is as long as its book
        self.store = store
        self.wake = wake
        self.rules = rules = rules or OfficeRules()
        self.trace = trace
        limits, clock = rules.limits, Clock()

        # What several verbs share
        checks = Checks(limits)
        self._rota = rota = Rota(store)
        directory = Directory(store, checks, rota)
        self.short_ids = short_ids = ShortIds(store, rota)
        self.tallies = tallies = Tallies()
        self.places = places = Places(limits.waits)
        self._bells = bells = Bells()
        self._board = board = Board(store)
        self._presences = presences = Presences(limits.heartbeat_timeout)
        self._identities = identities = Identities(store, rules.auth)
        silence, certain = limits.heartbeat_timeout, not store.engine.shared
        reachability = Reachability(store, rota, board, bells, presences, clock, silence, certain=certain)
        self.upkeep = Upkeep(store, wake, bells, board, rota, presences, rules, clock.new_id())

        # Who is calling
        callers = Callers(store, identities, presences, board)
        self.identify = callers.identify
        self.owner = callers.owner
        self.speak_as = callers.speak_as
        self.at_window = callers.at_window
        self.watcher = callers.watcher
        self.has_called = presences.looked_in

        # Sending mail, and knowing what became of it
        sending = Sending(store, checks, rules, directory, short_ids, reachability, rota, tallies, trace)
        self.send = sending.send
        self.send_many = sending.send_many
        self.publish = sending.publish
        proofs = Proofs(store, checks, short_ids, rules.ledger)
        self.status = proofs.status
        self.cancel = Cancellations(store, proofs).cancel

        # Taking mail, and settling it
        deliveries = Deliveries(store, checks, limits, short_ids, board, rota, clock, tallies, trace)
        self.receive = deliveries.receive
        self.wait = Waits(store, limits, deliveries, proofs, rota, bells, presences, places, tallies).wait
        self.pop = deliveries.pop
        self.settle = deliveries.settle
        self.ack = deliveries.ack
        self.nack = deliveries.nack
        self.extend = deliveries.extend
        self.keep = deliveries.keep
        self.in_hand = deliveries.in_hand
        self.give_back = deliveries.give_back
        dead_letters = DeadLetters(store, checks, directory, short_ids)
        self.dead_letters = dead_letters.dead_letters
        self.requeue = dead_letters.requeue
        self.discard = dead_letters.discard

        # People
        persons = Persons(store, checks, short_ids, clock)
        self.is_person = persons.is_person
        self.for_you = persons.for_you
        self.for_you_count = persons.for_you_count
        self.seen = persons.seen
        self.all_seen = persons.all_seen
        self.keep_unread = persons.keep_unread
        self.done = persons.done
        self.snooze = persons.snooze
        questions = Questions(store, checks, short_ids, persons, rules.auth)
        self.questions = questions.questions
        self.question = questions.question
        self.answer = questions.answer
        self.withdraw_question = questions.withdraw_question
        self.go_on = questions.go_on

        # Reading
        mailboxes = Mailboxes(store, checks, limits, directory, rota)
        self.waiting = mailboxes.waiting
        self.waiting_in_roles = mailboxes.waiting_in_roles
        self.counts = mailboxes.counts
        self.lists = Lists(store, checks, limits)
        sessions = Sessions(store, checks, limits, directory, short_ids, persons, self.lists, rota)
        self.inbox = sessions.inbox
        self.history = sessions.history
        self.search = Search(store, checks).search
        news = News(store, checks, limits, rota, bells, presences, places, tallies, rules.tick)
        self.news = news.news
        self.follow = news.follow
        self.latest = news.latest
        self.all_news = news.all_news
        self.place = news.place
        self.watch = news.watch
        overview = Overview(store, checks, reachability)
        self.roster = overview.roster
        self.glances = overview.glances
        self.talks = overview.talks
        self.between = overview.between
        self.customs = overview.customs
        self.who_waits = overview.who_waits
        self.traffic = overview.traffic
        self.deeds = overview.deeds
        self.totals = overview.totals

        # Tasks, and what work is about
        tasks = Tasks(store, checks, limits, short_ids)
        self.update_task = tasks.update_task
        self.tasks = tasks.tasks
        self.task = tasks.task
        self.open_tasks = tasks.open_tasks
        self.finished_tasks = tasks.finished_tasks
        entities = Entities(store, checks, sending, rules.routes, strangers=rules.auth is Auth.OPEN)
        self.note = entities.note
        self.event = entities.event
        self.routed = entities.routed
        self.notes = entities.notes
        self.about = entities.about
        self.entities = entities.entities

        # Agents
        agents = Agents(store, checks, directory, presences, reachability)
        self.register = agents.register
        self.agent = agents.agent
        self.agents = agents.agents
        self.names = agents.names
        self.update_card = agents.update_card
        self.forget = agents.forget
        self.heartbeat = agents.heartbeat
        self.leave = agents.leave
        keys = Keys(store, checks, directory, limits.key_overlap)
        self.keys = keys.keys
        self.add_key = keys.add_key
        self.rotate_key = keys.rotate_key
        self.revoke_keys = keys.revoke_keys
        pauses = Pauses(store, checks, limits, directory, agents, clock)
        self.pause = pauses.pause
        self.resume = pauses.resume
        connections = Connections(store, checks, directory, limits, rules.handshake)
        self.request_connection = connections.request_connection
        self.approve_connection = connections.approve_connection
        self.approve_for = connections.approve_for
        self.reject_connection = connections.reject_connection
        self.end_connection = connections.end_connection
        self.connections = connections.connections
        self.connection = connections.connection

        # Where they are open: windows, and the page
        windows = Windows(store, checks, presences, rota, rules.auth)
        self.windows = windows.windows
        self.open_window = windows.open_window
        self.renew_window = windows.renew_window
        self.renew_windows = windows.renew_windows
        self.close_window = windows.close_window
        self.begin_turn = windows.begin_turn
        self.rung = windows.rung
        self.rung_in_vain = windows.rung_in_vain
        self.ring = Rings(store, agents, board).ring
        logins = Logins(store)
        self.make_link = logins.make_link
        self.whose_link = logins.whose_link
        self.enter = logins.enter
        self.visitor = logins.visitor
        self.end_login = logins.end_login

        # Kinds of verbs that have a name of their own
        self.invites = Invites(store, checks, clock)
        self.machines = Machines(store, checks)
        self.reservations = Reservations(store, checks)
        self.roles = Roles(store, checks, reachability, rules.auth)
        self.bulk = Bulk(store, checks)
        self.attachments = Attachments(store, checks, limits, clock)
        self.recurring = RecurringLetters(store, checks, strangers=rules.auth is Auth.OPEN)
        self.hooks = Hooks(store, clock, sending)
        self.answer_links = answer_links = AnswerLinks(store, checks, rules, clock, questions)
        self.notify = notify = NotifyAddresses(store, checks, rules, clock, answer_links)
        self.webhooks = Webhooks(store, bells, clock, notify)
        self.ledger = Ledger(store, rules, checks, directory)
        self.foreign = ForeignAgents(store, rules, checks)
        self.lending = Lending(store, checks, bells, deliveries)

        health = Health(store, ledger=rules.ledger is not None)
        self.ping = health.ping
        self.numbers = health.numbers

    async def __aenter__(self) -> Self:
        await self.store.open(self.wake.hint)
        await self.wake.open(self._hear)
        alarm = Alarm(self.store, self.recurring, self.rules.tick)
        self._chores = [asyncio.create_task(self.upkeep.run()), asyncio.create_task(alarm.run())]
        return self

    async def __aexit__(self, *_: object) -> None:
        """Waiters are sent home empty-handed before the store closes; what they had asked for waits."""
        self.drain()
        for chore in self._chores:
            chore.cancel()
        await asyncio.gather(*self._chores, return_exceptions=True)
        await asyncio.gather(asyncio.wait_for(self._presences.flush(self.store), STORE_ANSWER_SECONDS), return_exceptions=True)
        await self.store.close()
        await self.wake.close()
        if self.trace is not None:
            await asyncio.to_thread(self.trace.close)

    def drain(self) -> None:
        """Send whoever waits home empty-handed; from here on nobody waits, but calls are still answered."""
        self._bells.close()

    @property
    def draining(self) -> bool:
        """Whether the office is closing."""
        return self._bells.closed

    @property
    def hints_carried(self) -> bool:
        """Whether this office hears at once what others do; if not, it looks once a tick."""
        return self.wake.healthy

    @property
    def hints_trouble(self) -> str | None:
        """Why it does not hear at once."""
        return None if self.wake.healthy else self.wake.trouble

    def _hear(self, agents: frozenset[str]) -> None:
        self._identities.forget(agents)
        self._board.hear(agents)
        self._rota.hear(agents)
        self._bells.ring(agents)

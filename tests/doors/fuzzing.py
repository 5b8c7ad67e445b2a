"""A schemathesis run over a whole running server, with the ids that the server itself gave out mixed in."""

import itertools
import os
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any, NamedTuple

import schemathesis
from schemathesis import Case, GenerationMode, HookContext, Response
from schemathesis.engine import events, from_schema
from schemathesis.engine.recorder import ScenarioRecorder

AnyCase = Case[Any]
TIMES = int(os.environ.get("POSTOFFICE_EXAMPLES", "1"))
EXAMPLES = 5
CHECKS = ["not_a_server_error", "status_code_conformance", "content_type_conformance", "response_schema_conformance"]
KEYS = "/agents/me/keys/"
# What a request calls by one name, answers give by another.
OTHER_NAMES = {
    **dict.fromkeys(("reply_to", "forward_of", "before", "id"), "message_id"),
    **dict.fromkeys(("sender", "recipient", "assignee", "requester", "to", "of", "target_agent_name"), "name"),
}
HARVESTED = {"message_id", "session_id", "connection_id", "task_id", "entity_id", "verification_code", "token", "cursor", "name", "prefix"}
ESSENTIAL = {"to", "content", "subject", "state", "name", "note", "entity_type", "token", "target_agent_name", "verification_code"}
SETTLING = {f"/messages/{{message_id}}/{verb}" for verb in ("ack", "nack", "extend")}
FEW = 3
MOST = 20


class Found(NamedTuple):
    """What a run came to."""

    cases: int
    operations: set[str]
    answered: dict[str, set[int]]
    """The statuses that each operation answered with."""
    problems: list[str]


class Pool:
    """Values the server gave out, by name. Every second call uses some of them, so that more than 404 is met."""

    def __init__(self, auth: Mapping[str, str]) -> None:
        self._named = "X-Agent" in auth
        self._values: dict[str, list[str]] = defaultdict(list)
        self._leases: list[tuple[str, str]] = []
        self._dead: list[str] = []
        self._used: Counter[str] = Counter()
        self._turns = itertools.count()

    def harvest(self, answer: Any) -> None:
        """Keep what an answer names."""
        if isinstance(answer, list):
            for item in answer:
                self.harvest(item)
        elif isinstance(answer, dict):
            if "from_verified" in answer:
                self._keep("message_id", answer["id"])
                if "token" in answer:
                    self._leases.append((answer["id"], answer["token"]))
            if "standing" in answer and answer["message"]["id"] not in self._dead:
                self._dead.append(answer["message"]["id"])
            if "lease_seconds" in answer:
                self._keep("window_id", answer["id"])
            for name, value in answer.items():
                if name in HARVESTED and isinstance(value, str) and value:  # an upload may have an empty name
                    self._keep(name, value)
                else:
                    self.harvest(value)

    def forget_leases(self) -> None:
        """They have been settled."""
        self._leases.clear()

    def prepare(self, case: AnyCase) -> None:
        """Let half of the calls speak of what exists; and let nobody lose the key it came with."""
        turn = next(self._turns)
        if turn % 2:
            self._use(case, turn // 2)
        if case.operation.path.startswith(KEYS):
            if self._named:
                case.headers["X-Agent"] = f"passing-{turn}"
            else:
                case.query["of"] = "passing"

    def learn(self, response: Response) -> None:
        """Keep what the answer names."""
        if response.status_code < HTTPStatus.BAD_REQUEST and response.headers.get("content-type", [""])[0] == "application/json":
            self.harvest(response.json())

    def _use(self, case: AnyCase, turn: int) -> None:
        if self._settles(case):
            return
        if isinstance(case.body, dict):
            # Each field alone is fine, but hardly ever all of them together.
            many = [name for name in case.body if name not in ESSENTIAL]
            case.body = {name: value for name, value in case.body.items() if name in ESSENTIAL or name in many[turn % 7 : turn % 7 + 1]}
            self._fill(case.body, turn)
        self._fill(case.path_parameters, turn)
        if case.operation.path.startswith("/windows/") and (windows := self._values["window_id"]):
            case.path_parameters["id"] = windows[-1]
        self._fill(case.query, turn)

    def _settles(self, case: AnyCase) -> bool:
        """Whether the call got a lease or a dead letter that is there to be settled; each operation gets a few."""
        path = case.operation.path
        if self._used[path] >= FEW:
            return False
        if self._leases and path in SETTLING:
            case.path_parameters["message_id"], token = self._leases.pop(0)
            case.body = {"token": token}
        elif self._dead and path.startswith("/dead-letters/"):
            case.path_parameters["message_id"] = self._dead.pop(0)
            case.query = {}
        else:
            return False
        self._used[path] += 1
        return True

    def _fill(self, part: dict[str, Any], turn: int) -> None:
        for name in part:
            if known := self._values.get(OTHER_NAMES.get(name, name)):
                part[name] = known[turn % len(known)]

    def _keep(self, name: str, value: str) -> None:
        if value.startswith("#"):  # a list, as it is written in an address
            value = f"list:{value[1:]}"
        if value not in self._values[name]:
            self._values[name] = [*self._values[name][-MOST:], value]


@contextmanager
def hooked(pool: Pool) -> Iterator[None]:
    """Let the pool see every call of the run."""

    @schemathesis.hook
    def before_call(_: HookContext, case: AnyCase, __: dict[str, Any]) -> None:
        pool.prepare(case)

    @schemathesis.hook
    def after_call(_: HookContext, __: AnyCase, response: Response) -> None:
        pool.learn(response)

    try:
        yield
    finally:
        schemathesis.hooks.unregister(before_call)
        schemathesis.hooks.unregister(after_call)


def fuzz(url: str, auth: Mapping[str, str], pool: Pool) -> Found:
    """Every phase of schemathesis over every operation, always the same way."""
    schema = schemathesis.openapi.from_url(f"{url}/openapi.json")
    schema.config.update(headers=dict(auth), request_timeout=20.0, continue_on_failure=True)
    schema.config.generation.update(
        deterministic=True, max_examples=EXAMPLES * TIMES, modes=[GenerationMode.POSITIVE, GenerationMode.NEGATIVE], database="none"
    )
    schema.config.checks.update(included_check_names=CHECKS)
    found = Found(0, set(), defaultdict(set), [])
    with hooked(pool):
        for event in from_schema(schema).execute():
            match event:
                case events.ScenarioFinished():
                    found = _count(found, event.recorder)
                case events.NonFatalError():
                    found.problems.append(f"{event.label}: {event.value!r}")
                case events.FatalError():
                    raise event.exception
    return found


def _count(found: Found, recorder: ScenarioRecorder) -> Found:
    for id, node in recorder.cases.items():
        interaction = recorder.interactions.get(id)
        if interaction is None or interaction.response is None:
            continue
        operation, status = node.value.operation.label, interaction.response.status_code
        found.operations.add(operation)
        found.answered[operation].add(status)
        # `default` documents refusals, and nothing else.
        if status < HTTPStatus.BAD_REQUEST and str(status) not in node.value.operation.definition.raw["responses"]:
            found.problems.append(f"{operation} answered {status}, which is not documented")
    for checks in recorder.checks.values():
        for check in checks:
            if check.failure_info is not None:
                found.problems.append(f"{recorder.label}: {check.failure_info.failure}\n{check.failure_info.code_sample}")
    return found._replace(cases=found.cases + len(recorder.interactions))

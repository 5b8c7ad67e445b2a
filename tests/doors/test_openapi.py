"""The OpenAPI: complete, true, and no request that it allows or forbids makes the server fail."""

import asyncio
import inspect
import re
import signal
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import httpx
import pytest
from jsonschema_rs import Draft202012Validator

from postoffice.config import Settings
from postoffice.doors import rest
from postoffice.serve.build import build_office
from tests.doors.fuzzing import Pool, fuzz
from tests.engines import PostgresServer
from tests.serve.running import COMMAND, PATIENCE, free_port, serving

# Nobody waits long for nothing, and no rate keeps the run from what it is after.
HURRIED = {
    "POSTOFFICE_WAIT": "0.02",
    "POSTOFFICE_WAIT_MOST": "0.02",
    "POSTOFFICE_SENDS_PER_MINUTE": "0",
    "POSTOFFICE_REGISTRATIONS_PER_HOUR": "0",
    "POSTOFFICE_WRONG_CODES_PER_HOUR": "1000000",
    "POSTOFFICE_MAX_ATTEMPTS": "2",
}
REST = Path(inspect.getfile(rest)).parent
NOT_VERBS = {"identify", "at_window", "latest", "follow", "give_back", "all_seen", "is_person", "for_you_count", "keep"}
"""Done for every call, by tools, for the WebSocket, when a caller hangs up, and with a session that a person opens."""
NOT_BY_A_BARE_NAME = {
    "DELETE /agents/{name}",
    "DELETE /lists/{name}/members/{agent}",  # by whoever keeps the list
    "GET /owner/events",
    "GET /owner/totals",
    "POST /close",
    "POST /invites",
    "POST /invites/accept",
    "POST /messages/{message_id}/seen",  # and the next three are for people
    "POST /messages/{message_id}/unseen",
    "POST /messages/{message_id}/done",
    "POST /messages/{message_id}/snooze",
    "POST /agents/me/keys",
    "POST /connections/{connection_id}/approve",
    "POST /agents/me/keys/rotate",
    "POST /agents/me/keys/revoke",
    "PUT /ledger/accounts/{name}",
    "PUT /ledger/topics/{topic_id}",
    "GET /ledger/topics/{topic_id}/records",
    "GET /ledger/quarantine",
    "POST /ledger/connections",  # there is no ledger
    "GET /roles/{role}",  # nobody guesses a role's name
    "PATCH /roles/{role}",
    "DELETE /roles/{role}",
    "POST /roles/{role}/staff",
    "POST /roles/{role}/unstaff",
    "GET /machines",
    "POST /machines",
    "DELETE /machines/{prefix}",
    "GET /hooks",  # and the rest of the owner's webhooks
    "POST /hooks",
    "DELETE /hooks/{name}",
    "POST /hooks/{token}",
    "GET /webhooks",
    "POST /webhooks",
    "GET /webhooks/{name}",
    "DELETE /webhooks/{name}",
    "POST /webhooks/{name}/resume",
    "POST /webhooks/{name}/rotate",
    "GET /notify",  # and the rest of the owner's notify addresses
    "POST /notify",
    "DELETE /notify/{name}",
    "POST /notify/{name}/resume",
    "POST /notify/{name}/try",
    "GET /answer-links",
    "DELETE /answer-links/{id}",
}
SUCCESS = re.compile("2[0-9][0-9]")


@pytest.fixture
def database(request: pytest.FixtureRequest) -> Iterator[tuple[str, ...]]:
    """The arguments that say where mail is kept."""
    if request.param == "sqlite":
        yield ()
        return
    postgres: PostgresServer = request.getfixturevalue("postgres")
    url = asyncio.run(postgres.copy())
    yield ("--database", url)
    asyncio.run(postgres.drop(url))


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, dict[str, Any]]]:
    """The address of a server, and its OpenAPI."""
    port = free_port()
    command = (*COMMAND, "serve", "--port", str(port), "--data", "kept")
    with serving(*command, port=port, here=tmp_path_factory.mktemp("openapi")):
        url = f"http://127.0.0.1:{port}"
        yield url, httpx.get(f"{url}/openapi.json", timeout=PATIENCE).json()


class TestNoRequestMakesTheServerFail:
    @pytest.mark.parametrize(
        ("database", "auth"),
        [
            ("sqlite", "open"),
            ("postgres", "keys"),
            pytest.param("sqlite", "keys", marks=pytest.mark.chaos),
            pytest.param("postgres", "open", marks=pytest.mark.chaos),
        ],
        indirect=["database"],
    )
    def test_every_operation_answers_as_documented_whatever_it_is_sent(self, tmp_path: Path, database: tuple[str, ...], auth: str) -> None:
        port = free_port()
        command = (*COMMAND, "serve", "--port", str(port), "--data", "kept", "--auth", auth, "--log-level", "error", *database)
        with serving(*command, port=port, here=tmp_path, extra=HURRIED) as server:
            url = f"http://127.0.0.1:{port}"
            owner = {"X-API-Key": (tmp_path / "kept" / "owner.key").read_text().strip()}
            mine = {"X-Agent": "fuzzer"} if auth == "open" else owner
            pool = Pool(mine)
            _live_a_little(url, pool, owner, mine)
            wanted = {f"{method} {path}" for method, path, _ in _operations(httpx.get(f"{url}/openapi.json", timeout=PATIENCE).json())}
            found = fuzz(url, mine, pool)
            server.send_signal(signal.SIGTERM)
            _, log = server.communicate(timeout=PATIENCE)
        assert found.problems == []
        assert "bug" not in log
        assert found.operations == wanted
        # A run that is refused everywhere would prove little.
        refused = {label for label, statuses in found.answered.items() if min(statuses) >= 400}
        assert len(refused - NOT_BY_A_BARE_NAME) < len(wanted) // 10


class TestTheDocumentIsComplete:
    def test_every_operation_has_a_summary_a_description_and_a_tag(self, document: tuple[str, dict[str, Any]]) -> None:
        poor = [
            label
            for label, operation in _labelled(document[1])
            if not all(operation.get(field) for field in ("summary", "description", "tags", "operationId"))
        ]
        assert poor == []

    def test_every_operation_shows_an_example_of_its_success(self, document: tuple[str, dict[str, Any]]) -> None:
        without = []
        for label, operation in _labelled(document[1]):
            successes = [answer for status, answer in operation["responses"].items() if SUCCESS.fullmatch(status)]
            shown = [content for answer in successes for content in answer["content"].values()]
            if not (shown and all("example" in content or "examples" in content for content in shown)):
                without.append(label)
        assert without == []

    def test_every_operation_documents_what_a_refusal_looks_like(self, document: tuple[str, dict[str, Any]]) -> None:
        shape = {"$ref": "#/components/schemas/Problem"}
        for label, operation in _labelled(document[1]):
            refusals = [item for status, item in operation["responses"].items() if not SUCCESS.fullmatch(status)]
            assert refusals, label
            # FastAPI's own shape for bad input is not what this server answers.
            assert {item["content"]["application/json"]["schema"]["$ref"] for item in refusals} == {shape["$ref"]}, label
        problem = document[1]["components"]["schemas"]["Problem"]
        assert set(problem["required"]) == {"detail", "code"}

    def test_every_success_has_a_shape_and_every_reference_leads_somewhere(self, document: tuple[str, dict[str, Any]]) -> None:
        described = document[1]
        shapes = described["components"]["schemas"]
        assert {ref.rpartition("/")[2] for ref in _references(described)} <= set(shapes)
        for label, operation in _labelled(described):
            for status, answer in operation["responses"].items():
                for kind, content in answer["content"].items():
                    assert content.get("schema") or kind != "application/json", (label, status)

    def test_every_example_is_what_its_shape_allows(self, document: tuple[str, dict[str, Any]]) -> None:
        described = document[1]
        wrong = [
            f"{label}: {error.message}"
            for label, operation in _labelled(described)
            for answer in operation["responses"].values()
            for content in answer["content"].values()
            if "example" in content and "schema" in content
            for error in Draft202012Validator({**content["schema"], "components": described["components"]}).iter_errors(content["example"])
        ]
        assert wrong == []

    def test_every_verb_of_the_office_is_behind_some_operation(self, document: tuple[str, dict[str, Any]], tmp_path: Path) -> None:
        office = build_office(Settings(data=tmp_path))
        verbs = {name for name, _ in inspect.getmembers(office, inspect.iscoroutinefunction) if not name.startswith("_")}
        called = {name for file in REST.glob("*.py") for name in re.findall(r"office\.(\w+)", file.read_text())}
        # What only people at the page need, or bridges in the same process, is behind those.
        own = [*REST.parent.glob("page/*.py"), *REST.parent.parent.glob("bridges/**/*.py"), *REST.parent.parent.glob("serve/*.py")]
        elsewhere = {name for file in own for name in re.findall(r"office\.(\w+)", file.read_text())}
        assert verbs - called - elsewhere - NOT_VERBS == set()
        routed = {(method, path) for method, path, _ in _operations(document[1])}
        declared = {(method, path) for file in REST.glob("*.py") for method, path in _declared(file.read_text())}
        assert routed == declared


class TestTheDocsAreServedFromHere:
    def test_the_page_and_all_it_loads_come_from_this_server(self, document: tuple[str, dict[str, Any]]) -> None:
        url, _ = document
        page = httpx.get(f"{url}/docs", timeout=PATIENCE)
        assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
        links = _Links()
        links.feed(page.text)
        assert {Path(link).suffix for link in links.found} >= {".js", ".css"}
        for link in links.found:
            assert re.match(r"/(?!/)", link), f"{link} is not an address of this server"
            asset = httpx.get(f"{url}{link}", timeout=PATIENCE)
            assert asset.status_code == 200, link
            assert asset.content, link

    def test_the_start_file_names_no_other_host_and_its_document_is_here(self, document: tuple[str, dict[str, Any]]) -> None:
        url, _ = document
        start = httpx.get(f"{url}/docs/start.js", timeout=PATIENCE).text
        assert "//" not in start
        (address,) = re.findall(r'url: "([^"]+)"', start)
        assert httpx.get(f"{url}{address}", timeout=PATIENCE).json()["info"]["title"] == "Postoffice"
        assert "validatorUrl: null" in start, "the validator's badge would be loaded from swagger.io"

    def test_neither_styles_nor_scripts_load_from_elsewhere(self, document: tuple[str, dict[str, Any]]) -> None:
        url, _ = document
        styles = httpx.get(f"{url}/docs/swagger-ui.css", timeout=PATIENCE).text
        addresses = [address.strip("\"'") for address in re.findall(r"url\(([^)]*)\)", styles)]
        assert [address for address in addresses if not address.startswith(("data:", "#"))] == []
        assert "@import" not in styles
        bundle = httpx.get(f"{url}/docs/swagger-ui-bundle.js", timeout=PATIENCE).text
        assert re.findall(r"""(?:\.src|\.href|importScripts|fetch|import)\s*[=(]\s*["'`](?:https?:)?//""", bundle) == []

    def test_the_browser_is_told_to_load_nothing_from_elsewhere(self, document: tuple[str, dict[str, Any]]) -> None:
        url, _ = document
        policy = httpx.get(f"{url}/docs", timeout=PATIENCE).headers["content-security-policy"]
        directives = dict(part.strip().partition(" ")[::2] for part in policy.split(";"))
        assert directives["default-src"] == "'self'"
        sources = {source for rule in directives.values() for source in rule.split()}
        assert sources <= {"'self'", "'none'", "'unsafe-inline'", "data:"}
        assert "'unsafe-inline'" not in directives.get("script-src", "")

    def test_other_names_under_docs_are_not_files(self, document: tuple[str, dict[str, Any]]) -> None:
        url, _ = document
        for name in ("index.html", "..%2fapi.py", "%2e%2e/api.py", "swagger-ui-bundle.js.map"):
            assert httpx.get(f"{url}/docs/{name}", timeout=PATIENCE).status_code == 404, name


class _Links(HTMLParser):
    """What a browser loads for a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value for name, value in attrs if name in ("src", "href", "action", "data") and value and tag != "a"]


def _operations(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield method.upper(), path, operation


def _labelled(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for method, path, operation in _operations(document):
        yield f"{method} {path}", operation


def _references(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        if isinstance(part.get("$ref"), str):
            yield part["$ref"]
        for value in part.values():
            yield from _references(value)
    elif isinstance(part, list):
        for value in part:
            yield from _references(value)


def _declared(source: str) -> Iterator[tuple[str, str]]:
    for method, path in re.findall(r'@routes\.(\w+)\(\s*"([^"]+)"', source):
        yield method.upper(), path.replace(":path}", "}")


def _live_a_little(url: str, pool: Pool, owner: dict[str, str], mine: dict[str, str]) -> None:
    """Mail, a task, a dead letter, a note and requests, so that there is something to speak of."""
    with httpx.Client(base_url=url, timeout=30) as client:

        def call(path: str, body: dict[str, Any], headers: dict[str, str]) -> Any:
            answer = client.post(path, json=body, headers=headers)
            assert answer.is_success, answer.text
            pool.harvest(answer.json())
            return answer.json()

        me = client.get("/agents/me", headers=mine).json()["name"]
        pool.harvest({"name": me})
        other = {**owner, "X-Agent": "passing"}
        for number in range(10):
            call("/messages/send", {"to": me, "subject": f"Talk {number % 3}", "content": "Noon?"}, other)
            call("/messages/send", {"to": "passing", "subject": f"Talk {number % 3}", "content": "Noon?"}, mine)
        call("/messages/send", {"to": me, "type": "task", "content": "Review, please.", "task": {}}, other)
        call("/entities/0.0.1/notes", {"entity_type": "task", "note": "Blocked."}, mine)
        pool.harvest({"entity_id": "0.0.1"})
        call("/connections/request", {"target_agent_name": me}, other)
        call("/connections/request", {"target_agent_name": "passing"}, mine)
        for _ in range(2):
            for letter in call("/messages/receive", {"limit": 6}, mine)["messages"]:
                call(f"/messages/{letter['id']}/nack", {"token": letter["token"]}, mine)
        pool.forget_leases()
        (task,) = client.get("/tasks", headers=mine).json()["tasks"]
        pool.harvest([client.get("/dead-letters", headers=mine).json(), {"task_id": task["id"]}])
        call("/messages/send/batch", {"messages": [{"to": me, "subject": "Talk", "content": "Noon?"}] * 20}, other)
        call("/messages/receive", {"limit": 12, "visible_for": 300}, mine)

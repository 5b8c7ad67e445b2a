"""What `deploy/` says is true of the program: every setting, command, address and number in it exists."""

import re
from pathlib import Path
from typing import Any

import msgspec
import yaml

from postoffice.cli.main import _read
from postoffice.config import PREFIX, known_settings, read_settings
from postoffice.core.policy import Auth
from postoffice.serve.build import build_rules
from tests.doors.callers import done, send
from tests.doors.served import Served, serving
from tests.engines import Engine

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
OPERATIONS = (ROOT / "docs" / "operations.md").read_text()
METRIC = re.compile(r"\bpostoffice_\w+")


# What is seen from outside


async def shown(served: Served) -> set[str]:
    """The names of all that /metrics shows of an office where something has happened."""
    async with served.client(name="alice") as alice:
        await send(alice, "alice")
        done(await alice.post("/messages/wait", json={}))
        text = (await alice.get("/metrics")).text
    return set(re.findall(r"^(postoffice_\w+)", text, re.MULTILINE))


def queries() -> dict[str, list[str]]:
    """What each panel asks."""
    board = msgspec.json.decode((DEPLOY / "grafana.json").read_bytes())
    return {panel["title"]: [target["expr"] for target in panel["targets"]] for panel in board["panels"]}


async def test_every_query_of_the_dashboard_and_of_the_alerts_names_numbers_that_are_shown(engine: Engine) -> None:
    async with serving(engine) as served:
        names = await shown(served)
    (alerts,) = re.findall(r"^```yaml\n(groups:.*?)^```$", OPERATIONS, re.MULTILINE | re.DOTALL)
    rules = [rule["expr"] for group in yaml.safe_load(alerts)["groups"] for rule in group["rules"]]
    assert rules
    asked = [expr for exprs in queries().values() for expr in exprs] + rules
    assert all(METRIC.search(expr) for expr in asked)
    assert {name for expr in asked for name in METRIC.findall(expr)} - names == set()


def test_an_operators_questions_each_have_a_panel() -> None:
    found = queries()
    for title, metric in {
        "Depth": "postoffice_mail",
        "Oldest waiting": "postoffice_oldest_seconds",
        "In flight": 'state="leased"',
        "Sent and taken": "postoffice_redelivered_total",
        "Dead letters": 'state="dead"',
        "Wait time": "postoffice_wait_seconds",
        "Commit time": "postoffice_commit_seconds",
        "Who waits": "postoffice_sockets",
        "Wake lag": "postoffice_wake_seconds",
        "Hints carried": "postoffice_hints_carried",
        "Requests": "postoffice_requests_total",
        "Latency by route (p99)": "postoffice_request_seconds",
    }.items():
        assert any(metric in expr for expr in found[title]), title


async def test_every_number_shown_is_explained(engine: Engine) -> None:
    async with serving(engine) as served:
        names = await shown(served)
    plain = {re.sub(r"_(bucket|sum|count|created|total)$", "", name) for name in names}
    explained = set(re.findall(r"^\| `(postoffice_\w+)", OPERATIONS, re.MULTILINE))
    assert {re.sub(r"_total$", "", name) for name in explained} - {"postoffice_ledger_posts"} == plain


# The containers


def composed() -> dict[str, Any]:
    """The file as compose reads it, with the example's variables in place."""
    variables = dict(line.split("=", 1) for line in (DEPLOY / ".env.example").read_text().splitlines() if not line.startswith("#"))
    text = (DEPLOY / "compose.yaml").read_text()
    wanted = set(re.findall(r"\$\{(\w+)", text))
    assert variables.keys() == wanted
    return dict(yaml.safe_load(re.sub(r"\$\{(\w+)[^}]*\}", lambda found: variables[found[1]], text)))


def dockerfile() -> list[tuple[str, str]]:
    lines = (DEPLOY / "Dockerfile").read_text().splitlines()
    return [(line.split(" ", 1)[0], line.split(" ", 1)[1]) for line in lines if line and not line.startswith("#")]


def test_compose_starts_two_equal_replicas_with_settings_that_exist() -> None:
    services = composed()["services"]
    image = {key: value for word, what in dockerfile() if word == "ENV" for key, _, value in [what.partition("=")]}
    for name in ("office-1", "office-2", "migrate"):
        variables = services[name]["environment"]
        ours = {variable for variable in image | variables if variable.startswith(PREFIX)}
        assert {variable.removeprefix(PREFIX).lower() for variable in ours} <= known_settings()
        settings = read_settings(environ=image | variables)
        assert build_rules(settings).auth is Auth.KEYS
        assert (settings.port, settings.wake) == (8787, "nats://nats:4222")
        assert settings.database is not None
        assert "@postgres:5432/" in settings.database
        assert settings.trusted_proxies == (services["nginx"]["networks"]["office"]["ipv4_address"],)
    first, second = ({**services[name], "networks": None} for name in ("office-1", "office-2"))
    assert first == second


def test_what_compose_names_is_there() -> None:
    file = composed()
    services = file["services"]
    assert set(services) == {"postgres", "nats", "migrate", "office-1", "office-2", "nginx"}
    for service in services.values():
        for needed in service.get("depends_on", ()):
            assert needed in services
        for volume in service.get("volumes", ()):
            source = volume.split(":")[0]
            assert (DEPLOY / source).exists() if source.startswith(".") else source in file["volumes"]
    build = services["office-1"]["build"]
    assert (DEPLOY / build["context"] / build["dockerfile"]).samefile(DEPLOY / "Dockerfile")
    assert _read(services["migrate"]["command"][1:])["command"].__name__ == "_migrate"
    upstreams = re.findall(r"server (\S+):8787 ", (DEPLOY / "nginx.conf").read_text())
    assert upstreams == ["office-1", "office-2"]
    addresses = [service["networks"]["office"]["ipv4_address"] for service in services.values()]
    assert len(set(addresses)) == len(addresses)


def test_the_image_is_nobodys_but_its_own_users_and_says_whether_it_is_ready() -> None:
    steps = dockerfile()
    words = [word for word, _ in steps]
    assert words.index("USER") < words.index("CMD")
    assert dict(steps)["USER"] not in ("root", "0")
    assert "/ready" in dict(steps)["HEALTHCHECK"]
    for word, what in steps:
        if word == "COPY" and "--from" not in what:
            assert all((ROOT / source).exists() for source in what.split()[:-1])
    (install,) = [what for word, what in steps if word == "RUN" and "pip install" in what]
    assert "--constraint requirements.lock" in install


# Under systemd


def test_the_unit_runs_commands_that_exist_with_settings_that_exist() -> None:
    unit = (DEPLOY / "postoffice.service").read_text()
    for name in re.findall(r"^Environment=(\w+)=", unit, re.MULTILINE):
        assert name.removeprefix(PREFIX).lower() in known_settings()
    started = re.findall(r"^ExecStart(?:Pre)?=/opt/postoffice/bin/postoffice (.*)$", unit, re.MULTILINE)
    assert [_read(line.split())["command"].__name__ for line in started] == ["_migrate", "_serve"]

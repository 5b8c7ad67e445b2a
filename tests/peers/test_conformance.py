"""The official conformance suite, for both eras of the protocol.

The suite is written for SDKs: most of it calls tools, prompts and resources of its own, named test_*, which a postoffice does not have.
So it runs twice: against the office as it is served, where what must fail is listed with its reason, and against the same
application with the suite's tools in place of ours, where nothing may fail.
"""

import re

import pytest

from tests.peers.outside import NODE, run_program

_LINE = re.compile(r"^[✓✗] (\S+): (\d+) passed, (\d+) failed$", re.MULTILINE)
_TOOL = "calls a tool of the suite's own"
_PROMPT = "gets a prompt of the suite's own"
_RESOURCE = "reads a resource of the suite's own"
_LOGGING = "logging is not offered: an agent has no use for a server's log"
_SUBSCRIBE = "needs a session, and we keep none; the newer era's subscriptions/listen is offered"
_COMPLETION = "completion is not offered: neither prompt nor resource has arguments worth completing"
_TASKS = "the tasks extension is not offered: the SDK does not have it, and our tasks are mail"
_ELICITATION = "calls a tool of the suite's own that asks its user back; none of ours does"
_OFTEN = {
    "completion-complete": (1, _COMPLETION),
    "tools-call-simple-text": (1, _TOOL),
    "tools-call-image": (1, _TOOL),
    "tools-call-audio": (1, _TOOL),
    "tools-call-embedded-resource": (1, _TOOL),
    "tools-call-mixed-content": (1, _TOOL),
    "tools-call-error": (1, _TOOL),
    "tools-call-with-progress": (1, _TOOL),
    "json-schema-2020-12": (1, _TOOL),
    "resources-read-text": (1, _RESOURCE),
    "resources-read-binary": (1, _RESOURCE),
    "resources-templates-read": (1, _RESOURCE),
    "prompts-get-simple": (1, _PROMPT),
    "prompts-get-with-args": (1, _PROMPT),
    "prompts-get-embedded-resource": (1, _PROMPT),
    "prompts-get-with-image": (1, _PROMPT),
}
EXPECTED: dict[str, dict[str, tuple[int, str]]] = {
    "2025-11-25": _OFTEN
    | {
        "logging-set-level": (1, _LOGGING),
        "tools-call-with-logging": (1, _LOGGING),
        "tools-call-sampling": (1, _TOOL),
        "tools-call-elicitation": (1, _ELICITATION),
        "elicitation-sep1034-defaults": (1, _ELICITATION),
        "elicitation-sep1330-enums": (1, _ELICITATION),
        "resources-subscribe": (1, _SUBSCRIBE),
        "resources-unsubscribe": (1, _SUBSCRIBE),
    },
    "2026-07-28": _OFTEN
    | {
        "server-stateless": (4, "four of its checks call tools of the suite's own; they pass against the fixture"),
        "http-custom-header-server-validation": (5, "no tool of ours mirrors an argument into a header; passes against the fixture"),
        "input-required-result-basic-elicitation": (1, _ELICITATION),
        "input-required-result-basic-sampling": (1, _ELICITATION),
        "input-required-result-basic-list-roots": (1, _ELICITATION),
        "input-required-result-request-state": (1, _ELICITATION),
        "input-required-result-multiple-input-requests": (1, _ELICITATION),
        "input-required-result-multi-round": (1, _ELICITATION),
        "input-required-result-non-tool-request": (1, _PROMPT),
        "input-required-result-result-type": (1, _ELICITATION),
        "input-required-result-tampered-state": (1, _ELICITATION),
        "input-required-result-capability-check": (1, _ELICITATION),
        "tasks-lifecycle": (8, _TASKS),
        "tasks-capability-negotiation": (4, _TASKS),
        "tasks-wire-fields": (3, _TASKS),
        "tasks-request-state-removal": (1, _TASKS),
        "tasks-mrtr-input": (3, _TASKS),
        "tasks-request-headers": (3, _TASKS),
        "tasks-dispatch-and-envelope": (6, _TASKS),
        "tasks-required-task-error": (1, _TASKS),
        "tasks-mrtr-composition": (1, _TASKS),
    },
}
"""By era and scenario: how many of its checks fail, and why."""
AT_SHARED: dict[str, dict[str, tuple[int, str]]] = {
    "2025-11-25": {},
    "2026-07-28": {},
}
"""What is different at the address that belongs to nobody, on an open server."""
FIXTURE = {
    "2025-11-25": ("server-initialize", "ping", "tools-list", "tools-call-simple-text", "tools-call-error", "tools-call-with-progress"),
    "2026-07-28": (
        "server-stateless",
        "tools-list",
        "tools-call-simple-text",
        "tools-call-error",
        "tools-call-with-progress",
        "http-custom-header-server-validation",
    ),
}
"""By era: the scenarios that say something about how we serve, and not about what."""


@pytest.mark.parametrize(("path", "different"), [("/agents/x/mcp", {}), ("/mcp", AT_SHARED)])
@pytest.mark.parametrize("era", EXPECTED)
def test_exactly_the_scenarios_that_we_expect_to_fail_do(
    served: str, era: str, path: str, different: dict[str, dict[str, tuple[int, str]]]
) -> None:
    expected = EXPECTED[era] | different.get(era, {})
    done = run_program(NODE / "conformance", "server", "--url", served + path, "--requirements", era)
    found = {name: (int(passed), int(failed)) for name, passed, failed in _LINE.findall(done.stdout)}
    failing = {name: failed for name, (_, failed) in found.items() if failed}
    assert failing == {name: count for name, (count, _) in expected.items()}, done.stdout + done.stderr
    assert {"tools-list", "resources-list", "prompts-list", "dns-rebinding-protection"} <= found.keys() - failing.keys()


@pytest.mark.parametrize(("era", "scenario"), [(era, scenario) for era, scenarios in FIXTURE.items() for scenario in scenarios])
def test_the_suite_finds_nothing_wrong_with_its_own_tools_on_our_transport(fixture_served: str, era: str, scenario: str) -> None:
    url = f"{fixture_served}/agents/x/mcp"
    done = run_program(NODE / "conformance", "server", "--url", url, "--scenario", scenario, "--spec-version", era)
    assert done.returncode == 0, done.stdout + done.stderr

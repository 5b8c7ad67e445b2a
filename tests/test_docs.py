"""What the documents print runs as printed, and what they name exists."""

import os
import re
import select
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import msgspec
import pytest

from postoffice.config import Settings
from postoffice.core.limits import Limits
from tests.serve.running import COMMAND, environment, free_port, serving

ROOT = Path(__file__).parent.parent
DOCUMENTS = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]


BIN = Path(sys.executable).parent
PRINTED = re.compile(r"^```sh\n(.*?)^```$(?:\n+^```(?:json|text)\n(.*?)^```$)?", re.MULTILINE | re.DOTALL)
OWN_VALUES = {
    r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}": "ID",
    r"20\d\d-\d\d-\d\dT[\d:.]+Z": "TIME",
}


def without_own_values(text: str) -> str:
    for pattern, word in OWN_VALUES.items():
        text = re.sub(pattern, word, text)
    return text.strip()


@pytest.mark.parametrize(
    "name",
    [
        "README.md",
        "docs/rest.md",
        "docs/people.md",
        "docs/times.md",
        "docs/mcp.md",
        "docs/command.md",
        "docs/reservations.md",
        "docs/attachments.md",
        "docs/roles.md",
        "docs/tasks.md",
        "docs/lists.md",
    ],
)
def test_what_a_document_prints_runs_as_printed(name: str, tmp_path: Path) -> None:
    examples = PRINTED.findall((ROOT / name).read_text())
    assert examples
    port = free_port()
    if name == "README.md":  # a tour that somebody takes again
        examples *= 2
    # One shell for the whole document: later blocks use what earlier ones found out.
    script = "\n".join(f"{code}\necho\necho '=== end'" for code, _ in examples)
    script = script.replace(":8787", f":{port}").replace("/tmp/postoffice-", f"{tmp_path}/")
    names = {
        "POSTOFFICE_SERVER": f"127.0.0.1:{port}",
        "POSTOFFICE_CREDENTIALS": str(tmp_path / "keys"),
        "POSTOFFICE_DATA": str(tmp_path / "data"),
        "PATH": f"{BIN}:{os.environ['PATH']}",
    }
    with serving(*COMMAND, "serve", "--port", str(port), "--data", str(tmp_path / "data"), port=port, here=tmp_path):
        ended = subprocess.run(
            ["bash", "-euc", script], cwd=tmp_path, env=environment(names), capture_output=True, text=True, timeout=60, check=False
        )
    assert ended.returncode == 0, ended.stderr
    said = [without_own_values(part) for part in ended.stdout.split("=== end")][:-1]
    for (code, printed), output in zip(examples, said, strict=True):
        if printed:
            assert output == without_own_values(printed), code


def test_the_sdk_runs_as_printed(tmp_path: Path) -> None:
    (code,) = re.findall(r"^```python\n(.*?)^```$", (ROOT / "docs" / "sdk.md").read_text(), re.MULTILINE | re.DOTALL)
    port = free_port()
    names = {"POSTOFFICE_SERVER": f"127.0.0.1:{port}", "POSTOFFICE_CREDENTIALS": str(tmp_path / "keys")}
    with serving(*COMMAND, "serve", "--port", str(port), "--data", str(tmp_path / "data"), port=port, here=tmp_path):
        ended = subprocess.run(
            [sys.executable, "-W", "error", "-c", code], env=environment(names), capture_output=True, text=True, timeout=60, check=False
        )
    assert sorted(ended.stdout.splitlines()) == ["boss: Is the branch ready?", "coder: on it"], ended.stderr


def test_file_mailboxes_run_as_printed(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "files.md").read_text().replace("/tmp/postoffice-", f"{tmp_path}/")
    (agent,) = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    port = free_port()
    examples = PRINTED.findall(text.replace(":8787", f":{port}"))
    root = str(tmp_path / "mailboxes")
    names = {"PATH": f"{BIN}:{os.environ['PATH']}"}
    with serving(*COMMAND, "serve", "--port", str(port), "--data", "kept", "--files", root, port=port, here=tmp_path):
        coder = subprocess.Popen([sys.executable, "-W", "error", "-c", agent], env=environment(), stdout=subprocess.PIPE, text=True)
        for code, printed in examples:
            ended = subprocess.run(
                ["bash", "-euc", code], cwd=tmp_path, env=environment(names), capture_output=True, text=True, timeout=60, check=False
            )
            assert ended.stdout.strip() == printed.strip(), ended.stderr
        assert coder.communicate(timeout=60)[0] == "alice: Is the branch ready?\n"


@contextmanager
def running_as_printed(name: str, tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], Callable[..., str]]]:
    """A document's program, which goes on until it is ended, and the command of whoever else is at its office."""
    port = free_port()
    (code,) = re.findall(r"^```python\n(.*?)^```$", (ROOT / name).read_text().replace(":8787", f":{port}"), re.MULTILINE | re.DOTALL)
    names = {"POSTOFFICE_SERVER": f"127.0.0.1:{port}", "POSTOFFICE_CREDENTIALS": str(tmp_path / "keys"), "PYTHONUNBUFFERED": "1"}

    def command(*words: str) -> str:
        return subprocess.run([*COMMAND, *words], env=environment(names), capture_output=True, text=True, timeout=60, check=True).stdout

    with serving(*COMMAND, "serve", "--port", str(port), "--data", str(tmp_path / "data"), port=port, here=tmp_path):
        words = [sys.executable, "-W", "error", "-c", code]
        with subprocess.Popen(words, env=environment(names), stdout=subprocess.PIPE, text=True) as program:
            try:
                yield program, command
            finally:
                program.kill()


def test_the_readmes_program_answers_as_printed(tmp_path: Path) -> None:
    with running_as_printed("README.md", tmp_path) as (_, command):
        assert '"content":"You said: hello"' in command("send", "--as", "alice", "--to", "coder", "--wait-reply", "hello")


def test_the_websockets_program_tells_as_printed(tmp_path: Path) -> None:
    with running_as_printed("docs/websocket.md", tmp_path) as (program, command):
        assert program.stdout is not None
        while not select.select([program.stdout], [], [], 0)[0]:  # it hears what happens once it is there
            command("send", "--as", "alice", "--to", "bob", "hello")
        assert re.fullmatch(r"\d+ new_message\n", program.stdout.readline())


def test_every_path_of_the_rest_door_is_named(tmp_path: Path) -> None:
    port = free_port()
    with serving(*COMMAND, "serve", "--port", str(port), "--data", str(tmp_path / "data"), port=port, here=tmp_path):
        paths = httpx.get(f"http://127.0.0.1:{port}/openapi.json", timeout=60).json()["paths"]
    named = {re.sub(r"{\w+}", "{}", path) for path in re.findall(r"(/[a-z][\w/{}-]*)", (ROOT / "docs" / "rest.md").read_text())}
    assert {path for path in paths if re.sub(r"{\w+}", "{}", path) not in named} == set()


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_what_a_document_links_to_and_names_exists(document: Path) -> None:
    text = document.read_text()
    links = re.findall(r"\]\(([^)#:]+)\)", text)
    files = re.findall(r"`((?:tests|src|store|core|office|doors|docs|packages|deploy)/[\w/.]*)`", text)
    missing = [name for name in links if not (document.parent / name).exists()]
    missing += [name for name in files if not any((root / name).exists() for root in (ROOT, ROOT / "src" / "postoffice"))]
    assert missing == []


def test_what_is_on_no_index_is_installed_from_here() -> None:
    documents = [*DOCUMENTS, *ROOT.glob("packages/*/README.md"), *ROOT.glob("deploy/*")]
    assert [path.name for path in documents if re.search(r"pip install [^`#\n]*\bpostoffice", path.read_text())] == []


@pytest.mark.parametrize("words", [(), ("ledger",)])
def test_every_command_is_documented(words: tuple[str, ...]) -> None:
    shown = subprocess.run([*COMMAND, *words, "--help"], capture_output=True, text=True, timeout=60, check=True).stdout
    commands = set(re.findall(r"^    ([a-z]+)(?:$|  )", shown, re.MULTILINE))
    text = (ROOT / "docs" / "command.md").read_text()
    assert commands
    assert {name for name in commands if f"`{name}`" not in text} == set()


def test_every_setting_is_documented() -> None:
    text = (ROOT / "docs" / "settings.md").read_text()
    named = {field.name for field in msgspec.structs.fields(Settings)} - {"limits", "slips", "widened"}
    assert {name for name in named if f"| {name} |" not in text} == set()


def test_every_limit_is_documented() -> None:
    text = (ROOT / "docs" / "settings.md").read_text().partition("## Limits")[2].partition("## PostgreSQL")[0]
    assert {field.name for field in msgspec.structs.fields(Limits) if f"`{field.name}`" not in text} == set()


def test_every_documented_limit_exists_with_its_default() -> None:
    text = (ROOT / "docs" / "settings.md").read_text().partition("## Limits")[2].partition("## PostgreSQL")[0]
    defaults = {field.name: field.default for field in msgspec.structs.fields(Limits)}
    rows = re.findall(r"^\| (`[^|]+`) \| ([^|]+) \|", text, re.MULTILINE)
    for names, values in rows:
        for name, value in zip(re.findall(r"`(\w+)`", names), values.split(", "), strict=True):
            default = defaults[name]
            seconds = default.total_seconds() if hasattr(default, "total_seconds") else default
            assert (value.strip() == "keep") if default is None else float(value) == float(seconds), name


def test_every_target_of_make_is_explained() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    shown = subprocess.run(
        ["make", "--no-print-directory", "help"], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    ).stdout
    assert {line.split()[0] for line in shown.splitlines()} == targets
    assert {"setup", "run", "test", "check", "bench", "peers", "chaos", "help"} <= targets


def test_the_code_that_contributing_shows_stands_in_the_source() -> None:
    blocks = re.findall(r"^ *```python\n(.*?)^ *```$", (ROOT / "CONTRIBUTING.md").read_text(), re.MULTILINE | re.DOTALL)
    assert len(blocks) == 4
    for block in blocks:
        first, _, code = textwrap.dedent(block).partition("\n")
        assert code in (ROOT / "src" / "postoffice" / first.removeprefix("# ")).read_text(), first


def test_pre_commit_runs_what_make_check_runs() -> None:
    hooks = re.findall(r"entry: (.*)", (ROOT / ".pre-commit-config.yaml").read_text())
    made = re.search(r"^check:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert made
    assert hooks == made[1].replace("$(BIN)", ".venv/bin").replace("\t", "").splitlines()

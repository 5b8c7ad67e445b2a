"""What the documents print runs as printed, and what they name exists."""

import re
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from postoffice.config import Settings
from postoffice.core.limits import Limits

ROOT = Path(__file__).parent.parent
DOCUMENTS = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_tour_runs_as_printed(tmp_path: Path) -> None:
    blocks = BLOCK.findall((ROOT / "README.md").read_text())
    (code,) = [text for kind, text in blocks if kind == "python"]
    (printed,) = [text for kind, text in blocks if kind == "text"]
    ended = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True
    )
    assert ended.stdout == printed


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_what_a_document_links_to_and_names_exists(document: Path) -> None:
    text = document.read_text()
    links = re.findall(r"\]\(([^)#:]+)\)", text)
    files = re.findall(r"`((?:tests|src|store|core|office|doors|docs)/[\w/.]*)`", text)
    missing = [name for name in links if not (document.parent / name).exists()]
    missing += [name for name in files if not any((root / name).exists() for root in (ROOT, ROOT / "src" / "postoffice"))]
    assert missing == []


def test_every_setting_is_documented() -> None:
    text = (ROOT / "docs" / "settings.md").read_text()
    named = {field.name for field in msgspec.structs.fields(Settings)} - {"limits"}
    assert {name for name in named if f"| {name} |" not in text} == set()


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

"""What the looking through of the locks says, and what it must not."""

import json
from typing import Any

import pytest
from tools import audit, index, lock, sbom

OLD_PAGE = """<html><body>
<a href="x/thing-1.0-py3-none-any.whl" data-upload-time="2026-01-02T03:04:05Z" data-yanked="broken">thing-1.0-py3-none-any.whl</a><br/>
<a href="x/thing-1.1.tar.gz" data-upload-time="2026-02-02T03:04:05Z">thing-1.1.tar.gz</a><br/>
<a href="x/thing-1.1.exe">thing-1.1.exe</a><br/>
</body></html>"""
NEW_PAGE = json.dumps(
    {
        "files": [
            {"filename": "thing-1.0-py3-none-any.whl", "upload-time": "2026-01-02T03:04:05Z", "yanked": "broken"},
            {"filename": "thing-1.1.tar.gz", "upload-time": "2026-02-02T03:04:05Z", "yanked": False},
            {"filename": "thing-1.1.exe", "yanked": False},
        ]
    }
)


def test_a_package_that_could_not_be_looked_up_is_not_called_safe() -> None:
    told = {"dependencies": [{"name": "a", "skip_reason": "not found"}, {"name": "b", "version": "1", "vulns": []}]}
    assert [package["name"] for package in audit.reports(json.dumps(told))] == ["b"]
    assert audit.reports("") == []  # it could not be asked at all


@pytest.mark.parametrize("page", [OLD_PAGE, NEW_PAGE], ids=["html", "json"])
def test_an_index_is_read_in_either_of_its_forms(page: str) -> None:
    files = index.read(page, json=page == NEW_PAGE)
    assert [(str(file.version), file.yanked, file.uploaded and file.uploaded.month) for file in files] == [
        ("1.0", True, 1),
        ("1.1", False, 2),
    ]


def test_only_a_release_with_no_file_left_counts_as_taken_back() -> None:
    listed = {"thing": index.read(OLD_PAGE, json=False), "silent": []}
    assert audit.taken_back({"thing": "1.0", "silent": "2"}, listed) == ["thing 1.0 was taken back by its makers"]
    assert audit.taken_back({"thing": "1.1"}, listed) == []


def test_the_bill_holds_what_is_shipped_and_tells_what_is_not_as_pinned() -> None:
    bill: dict[str, Any] = {
        "metadata": {"component": {"bom-ref": "root"}},
        "components": [{"name": name, "version": "1.0", "bom-ref": name} for name in ("Jinja2", "pytest", "eth_abi")],
        "dependencies": [{"ref": "root", "dependsOn": ["Jinja2", "pytest"]}, {"ref": "pytest"}, {"ref": "Jinja2"}, {"ref": "eth_abi"}],
    }
    kept = sbom.only(bill, {"jinja2", "eth-abi"})
    assert [component["name"] for component in kept["components"]] == ["Jinja2", "eth_abi"]
    assert kept["dependencies"][0] == {"ref": "root", "dependsOn": ["Jinja2"]}
    assert [tie["ref"] for tie in kept["dependencies"]] == ["root", "Jinja2", "eth_abi"]
    assert sbom.strays(kept, {"jinja2": "1.0", "eth-abi": "2.0"}) == ["eth-abi is 1.0 here, and 2.0 in the lock"]


def test_every_lock_is_looked_through() -> None:
    for path in lock.LOCKS:
        pinned = [line for line in path.read_text().splitlines() if line.strip() and not line.lstrip().startswith("#")]
        assert len(lock.pins(path)) == len(pinned) > 0, path

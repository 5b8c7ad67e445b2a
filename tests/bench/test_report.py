"""One report from several sittings, and the document it becomes."""

from pathlib import Path
from xml.etree import ElementTree as ET

import msgspec
import pytest
from bench.document import write_document
from bench.plan import SECTIONS
from bench.report import FIELDS, Report, merged

from tests.bench.numbers import HERE, load, sitting, turnover, whole


def test_what_is_measured_again_takes_the_place_of_what_was_and_the_rest_stays() -> None:
    machine = msgspec.structs.replace(HERE, servers={"NATS": "2.15"})
    again = Report(machine=machine, sittings={"load": sitting(0.05)}, loads=[load(megabytes=1.0)])
    both = merged(whole(), again)
    assert both.loads == again.loads
    assert both.brokers == whole().brokers
    assert both.sittings["load"].others == 0.05
    assert set(both.sittings) == set(whole().sittings)
    assert both.machine.servers == {"NATS": "2.15"}


def test_a_section_that_found_nothing_this_time_is_empty_only_if_it_was_measured() -> None:
    assert merged(whole(), Report(machine=HERE, sittings={"load": sitting()})).loads == []
    assert merged(whole(), Report(machine=HERE)).loads == whole().loads


@pytest.mark.parametrize("elsewhere", [{"processor": "slide rule"}, {"packages": {"postoffice": "0.2.0"}}])
def test_another_machine_or_version_begins_anew(elsewhere: dict[str, object]) -> None:
    now = Report(machine=msgspec.structs.replace(HERE, **elsewhere), sittings={"brokers": sitting()}, brokers=[turnover("ours", 1.0)])
    assert merged(whole(), now) == now
    assert merged(None, now) == now


def test_a_report_survives_being_written_down() -> None:
    assert msgspec.json.decode(msgspec.json.encode(whole()), type=Report) == whole()


def test_every_section_has_its_place_in_the_report() -> None:
    fields = {field.name for field in msgspec.structs.fields(Report)} - {"machine", "sittings"}
    assert set(SECTIONS) == set(FIELDS)
    assert sorted(name for names in FIELDS.values() for name in names) == sorted(fields)


def test_the_document_has_every_table_its_plots_and_every_missed_wish(tmp_path: Path) -> None:
    text = write_document(whole(), tmp_path).read_text()
    for _, table in whole().tables():
        assert f"### {table.title}" in text
    assert "| Load: idle connections, and mail to any of them | 2 | 1 |" in text
    assert "| Replicas: two against one | 2, NATS | p99 under 25 |" in text
    assert "Not measured: sqlite, postgres," in text
    plots = sorted((tmp_path / "plots").iterdir())
    assert [path.stem for path in plots] == ["brokers", "growth-agents", "growth-messages", "load-delay", "load-memory", "replicas", "seed"]
    for path in plots:
        assert f"](plots/{path.name})" in text
        ET.fromstring(path.read_text())


def test_company_on_the_machine_is_told(tmp_path: Path) -> None:
    report = msgspec.structs.replace(whole(), sittings={"load": sitting(0.3)})
    assert "30% (too much)" in write_document(report, tmp_path).read_text()
    assert "TOO MUCH" in report.text()
    assert "TOO MUCH" not in whole().text()

"""Attachments in every order, on both engines: who may fetch what, and that all of it is there as long as anybody may."""

from pathlib import Path

import pytest

from tests.engines import PostgresServer
from tests.machine.attachments import AttachmentMachine
from tests.machine.ground import PostgresGround
from tests.machine.machine import LIMITS
from tests.machine.running import TIMES, run, sqlite_grounds

pytestmark = pytest.mark.timeout(300 * TIMES)


def test_attachments_of_an_sqlite_office_are_the_models(tmp_path: Path) -> None:
    run(AttachmentMachine, sqlite_grounds(tmp_path, LIMITS), 25)


def test_attachments_at_two_replicas_on_postgresql_are_the_models(postgres: PostgresServer) -> None:
    run(AttachmentMachine, lambda: PostgresGround(postgres, LIMITS), 8)

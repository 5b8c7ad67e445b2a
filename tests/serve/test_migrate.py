"""A migration that fails says why in one line, whatever it was."""

from pathlib import Path

import pytest

from postoffice.config import Settings
from postoffice.core.errors import MigrationFailed
from postoffice.serve import migrate as migrating


def test_a_server_that_never_answers_is_told_of_though_the_driver_has_no_words_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wait_in_vain(*_: object) -> str:
        raise TimeoutError

    monkeypatch.setattr(migrating, "run_alembic", wait_in_vain)
    with pytest.raises(MigrationFailed, match="changed nothing: TimeoutError"):
        migrating.migrate(Settings(data=tmp_path))

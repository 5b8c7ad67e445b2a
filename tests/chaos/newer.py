"""A newer program than this one: the same, with one more migration, which can be held up half-way."""

import re
import shutil
from pathlib import Path
from typing import Final

import postoffice
from postoffice.store.migrations.upgrade import HEAD

NEWEST: Final = "9999"
HALF_WAY: Final = "HALF_WAY"
"""Names a file in the environment: it appears when half of the migration is done, and no more is done then."""
_MIGRATION = f'''"""Every message gets a mark."""

import os
import time
from pathlib import Path

from alembic import op

revision = "{NEWEST}"
down_revision = "{HEAD}"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE messages ADD COLUMN mark integer")
    op.execute("UPDATE messages SET mark = 1")
    if marker := os.environ.get("{HALF_WAY}"):
        Path(marker).touch()
        time.sleep(3600)
    op.execute("CREATE TABLE marks (mark integer PRIMARY KEY)")
    op.execute("INSERT INTO marks VALUES (1)")


def downgrade() -> None:
    pass
'''


def newer_program(folder: Path) -> Path:
    """Where to import it from."""
    source = Path(postoffice.__file__).parent
    copy = folder / "newer" / "postoffice"
    shutil.copytree(source, copy, ignore=shutil.ignore_patterns("__pycache__"))
    migrations = copy / "store" / "migrations"
    (migrations / "versions" / f"{NEWEST}_mark.py").write_text(_MIGRATION)
    upgrade = migrations / "upgrade.py"
    changed, times = re.subn(r'^(HEAD\b.*= )"\d+"$', rf'\1"{NEWEST}"', upgrade.read_text(), flags=re.MULTILINE)
    assert times == 1
    upgrade.write_text(changed)
    return copy.parent

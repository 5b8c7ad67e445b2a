"""Windows: where clients are open now, the names they had, machines' keys, and what was rung for."""

from postoffice.store.migrations.script import run_script

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables."""
    run_script("0013")


def downgrade() -> None:
    """Tables more harm nobody."""

"""What is searched is kept as its words, the same on both engines: of earlier letters, those that are not plain ASCII are written again."""

from alembic import op
from sqlalchemy import Connection, text

from postoffice.core.query import searched

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None
_AT_ONCE = 1000
_AFTER = {
    "sqlite": "SELECT rowid, text FROM search WHERE rowid > :last ORDER BY rowid LIMIT :most",
    "postgresql": "SELECT message_id, text FROM search WHERE message_id > CAST(:last AS uuid) ORDER BY message_id LIMIT :most",
}
_WRITE = {
    "sqlite": "UPDATE search SET text = :text WHERE rowid = :key",
    "postgresql": "UPDATE search SET text = :text WHERE message_id = :key",
}


def upgrade() -> None:
    """Fold what earlier programs have indexed."""
    fold_index(op.get_bind())


def fold_index(connection: Connection) -> None:
    """Write the words of every text that is not plain, so many at a time."""
    engine = connection.dialect.name
    last: object = 0 if engine == "sqlite" else "00000000-0000-0000-0000-000000000000"
    while rows := connection.execute(text(_AFTER[engine]), {"last": last, "most": _AT_ONCE}).all():
        if folded := [{"key": key, "text": searched(said)} for key, said in rows if not said.isascii()]:
            connection.execute(text(_WRITE[engine]), folded)
        last = rows[-1][0] if engine == "sqlite" else str(rows[-1][0])


def downgrade() -> None:
    """Programs before this find what plain words they ask for."""

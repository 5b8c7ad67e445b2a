"""Where bytes are kept if no setting says so: beside the mail."""

from postoffice.store.depot.depot import Depot
from postoffice.store.depot.objects import FolderDepot
from postoffice.store.engine import Engine
from postoffice.store.postgres.depot import DatabaseDepot

FOLDER = "attachments"


def depot_of(engine: Engine) -> Depot:
    """A folder beside the engine's files, or the database that all replicas share."""
    return DatabaseDepot(engine) if engine.folder is None else FolderDepot(engine.folder / FOLDER)

"""The search index: what was said enters it some time after."""

import msgspec

from postoffice.acts.desk import Desk
from postoffice.acts.needs import Needs
from postoffice.acts.upkeep.housekeeping import Housekeeping
from postoffice.core.errors import DiskFull
from postoffice.core.message import Message, said
from postoffice.core.query import searched

_message = msgspec.json.Decoder(Message).decode


class IndexSearch(Housekeeping[int]):
    """Index what was said since the last time, following the log of events. Gives how much of the log it read."""

    def __init__(self, limit: int = 200) -> None:
        self.limit = limit

    def ask(self, needs: Needs) -> None:
        super().ask(needs)
        (limit,) = needs.extra.get("unindexed", (0,))
        needs.extra["unindexed"] = (max(limit, self.limit),)

    def run(self, desk: Desk) -> int:
        # Acts of one group share what was loaded: each tells of all of it, so that whoever catches up knows whether there is more.
        rows = desk.extra["unindexed"]
        try:
            desk.room.take(sum(len(body or "") for _, body in rows))
        except DiskFull:  # what is there is searched all the same
            return 0
        purged = desk.writes.get("delete_search", {})
        for _, body in rows:
            if body is not None and (message := _message(body)).id not in purged:
                text = searched(said(message))
                desk.write("add_search", (message.id, text), message.id)
        if rows:
            desk.write("put_cursor", ("search", rows[-1][0]), "search")
        return len(rows)

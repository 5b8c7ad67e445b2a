"""Bytes that nobody needs are gone: first what says that they are here, then they themselves."""

from collections.abc import Sequence
from datetime import timedelta

from postoffice.acts.act import Act
from postoffice.acts.attachments.rows import ask_blob, ask_upload, blob_on, drop_blob, drop_upload, upload_on
from postoffice.acts.desk import Desk
from postoffice.acts.needs import Needs
from postoffice.acts.upkeep.housekeeping import Housekeeping
from postoffice.core.clock import micros

Holding = tuple[str, str, int]
"""A digest, who holds it, and since when."""


class DropHoldings(Housekeeping[int]):
    """Agents no longer hold what they brought or sent long ago and none of their letters carries. One that is held anew meanwhile stays."""

    def __init__(self, holdings: Sequence[Holding]) -> None:
        self.holdings = holdings

    def run(self, desk: Desk) -> int:
        put = desk.writes.get("put_holding", {})
        gone = [holding for holding in self.holdings if holding[:2] not in put]
        for holding in gone:
            desk.write("drop_holding", holding, holding[:2])
        return len(gone)


class DropBlobs(Housekeeping[int]):
    """Bytes that nobody holds and no letter carries are rubbish."""

    def __init__(self, digests: Sequence[str]) -> None:
        self.digests = digests

    def ask(self, needs: Needs) -> None:
        super().ask(needs)
        for digest in self.digests:
            ask_blob(needs, digest)

    def run(self, desk: Desk) -> int:
        unneeded = [blob for digest in self.digests if (blob := blob_on(desk, digest)) is not None and not blob.needed]
        for blob in unneeded:
            drop_blob(desk, blob)
        return len(unneeded)


class DropUploads(Act[int]):
    """Uploads of which nothing has come for long are rubbish. One of which more has come meanwhile stays."""

    def __init__(self, uploads: Sequence[tuple[str, str]], older_than: timedelta) -> None:
        self.uploads = uploads
        """Each with its agent, under whose mailbox it changes."""
        self.older_than = older_than

    def ask(self, needs: Needs) -> None:
        for id, agent in self.uploads:
            needs.boxes.add(agent)
            ask_upload(needs, id)

    def run(self, desk: Desk) -> int:
        cutoff = desk.now - micros(self.older_than)
        over = [id for id, _ in self.uploads if (row := upload_on(desk, id)) is not None and row.touched_at < cutoff]
        for id in over:
            drop_upload(desk, id, rubbish=True)
        return len(over)


class ForgetRubbish(Housekeeping[int]):
    """The bytes of these uploads are gone; so is what told where they were."""

    def __init__(self, uploads: Sequence[str]) -> None:
        self.uploads = uploads

    def run(self, desk: Desk) -> int:
        for id in self.uploads:
            desk.write("delete_parts", (id,), id)
            desk.write("drop_rubbish", (id,), id)
        return len(self.uploads)

"""What a server is asked about rows that are remembered, before it writes what a group made of them."""

import msgspec

from postoffice.acts.rows import Version
from postoffice.store.remembered import Remembered

_LATE_MICROSECONDS = 250_000  # microseconds by which the time that a group goes by may differ from the server's
_encode = msgspec.json.Encoder().encode


def questions(remembered: Remembered, versions: dict[str, Version], now: int | None) -> dict[str, list[object]]:
    """Whether they are true, in the order in which they would be loaded and locked: statements, and what each is asked with."""
    asked: dict[str, list[object]] = {}
    # Driver and server take a text in less time than an array.
    if mail := remembered.desk.mail:
        asked["doubt_mail"] = [f"{{{','.join(str(row.id) for row in mail.values())}}}", len(mail)]
    known = {agent: " ".join(map(str, versions[agent])) for agent in remembered.needs.boxes}
    asked["doubt_boxes"] = [_encode(known).decode(), len(known), now, _LATE_MICROSECONDS]
    if ids := remembered.presumed.get("dedupe"):
        asked["doubt_unused"] = [list(column) for column in zip(*ids, strict=True)]
    if "due" in remembered.presumed:
        asked["doubt_nothing_due"] = []
    return asked

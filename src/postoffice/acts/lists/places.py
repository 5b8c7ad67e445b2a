"""Places: an agent's on a list, and a letter's in the list's session."""

from msgspec.structs import astuple

from postoffice.acts.desk import Desk
from postoffice.acts.lists.rows import ListRow, MemberRow
from postoffice.acts.rows import DeliveryRow
from postoffice.core.errors import NoSuchList


def list_of(desk: Desk, name: str) -> ListRow:
    """The list of that name, which has to be there."""
    row = desk.lists.named.get(name)
    if row is None:
        raise NoSuchList(name=name)
    return row


def is_on(desk: Desk, row: ListRow, agent: str) -> bool:
    """Whether what is written to the list goes to this agent."""
    place = desk.lists.places.get((row.id, agent))
    return place is not None and place.is_member


def write_list(desk: Desk, row: ListRow) -> None:
    """Keep a list as it is now."""
    desk.write("put_list", astuple(row), row.id)


def write_place(desk: Desk, row: MemberRow, last_at: int = 0) -> None:
    """Keep an agent's place on a list. `last_at`: when the newest was said of what it may read from now on."""
    desk.lists.keep_place(row)
    desk.write("put_list_member", (*astuple(row), last_at), (row.list_id, row.agent))


def count_unread(desk: Desk, list_id: str, agent: str, by: int, at: int = 0) -> None:
    """So many more or fewer of a list's letters are unread by one who is on it; `at`: when the newest of them came."""
    key = (list_id, agent)
    *_, before, last_at = desk.writes.get("count_list_unread", {}).get(key, (0, 0))
    desk.write("count_list_unread", (*key, before + by, max(last_at, at)), key)


def next_number(desk: Desk, row: ListRow, message_id: str, sender: str) -> int:
    """The letter's place in the list's session, after all that was said there."""
    row.counted += 1
    row.last_at = desk.now
    write_list(desk, row)
    desk.lists.numbers[message_id] = row.counted
    desk.write("add_list_letter", (row.id, row.counted, message_id, sender), message_id)
    return row.counted


def come_last(desk: Desk, row: DeliveryRow, list_id: str) -> None:
    """What has waited for its time comes after all that was said on the list meanwhile, with all its members at the same place."""
    lists = desk.lists
    number = lists.numbers.get(row.message_id)
    row.session_number = next_number(desk, lists.by_id[list_id], row.message_id, row.sender) if number is None else number
    count_unread(desk, list_id, row.mailbox, 0, desk.now)

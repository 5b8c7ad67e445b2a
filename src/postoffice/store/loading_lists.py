"""How a group of acts loads lists and those who are on them."""

from postoffice.acts.desk import Desk
from postoffice.acts.lists.rows import ListRow, MemberRow
from postoffice.acts.needs import Needs
from postoffice.acts.rows import Row
from postoffice.store.engine import Loads, Steps


def load_lists(desk: Desk, needs: Needs) -> Steps:
    """Load and lock the lists, then who is on them: whoever waited for the lock sees who is on them now."""
    queries: Loads = {"lists_by_name": [(name,) for name in sorted(needs.lists)], "lists_by_id": [(id,) for id in sorted(needs.list_ids)]}
    for name, keys in queries.items():
        if keys:
            for row in (yield {name: keys})[name]:
                desk.lists.lay(ListRow.of(row))
    crowds = sorted(row.id for name, row in desk.lists.named.items() if name in needs.crowds)
    asked: Loads = {
        "list_members": [(id,) for id in crowds],
        "list_places": sorted(needs.list_places),
        "list_places_by_id": sorted(needs.list_places_by_id),
        "list_numbers": [(id,) for id in sorted(needs.list_letters)],
    }
    if loads := {name: keys for name, keys in asked.items() if keys}:
        _lay(desk, crowds, (yield loads))
    needs.boxes.update(agent for members in desk.lists.members.values() for agent in members)
    needs.boxes.update(row.owner for row in desk.lists.by_id.values())


def _lay(desk: Desk, crowds: list[str], rows_by_name: dict[str, list[Row]]) -> None:
    lists = desk.lists
    lists.members |= {id: {} for id in crowds}
    for row in rows_by_name.get("list_members", ()):
        lists.lay_member(MemberRow(*row))
    for name in ("list_places", "list_places_by_id"):
        for row in rows_by_name.get(name, ()):
            lists.lay_place(MemberRow(*row))
    lists.numbers.update((id, number) for id, number in rows_by_name.get("list_numbers", ()))

"""Many letters at once, for the owner: counted, confirmed, and done group by group."""

from datetime import datetime, timedelta

from starlette.responses import Response

from postoffice.core.bulk import BulkAct, Which
from postoffice.core.errors import Invalid
from postoffice.doors.page.look import Look

_PATH = "/page/bulk"
_GROUP = 1000
_AGES = {"1h": timedelta(hours=1), "1d": timedelta(days=1), "7d": timedelta(days=7), "30d": timedelta(days=30)}
_GIVEN = ("act", "older", "agent", "sender", "type", "reason")


async def bulk(look: Look) -> Response:
    """Show how many letters fit."""
    fields = {name: (look.asked(name) or "").strip() for name in _GIVEN}
    counted = await look.office.bulk.count(look.caller, _act(fields), _which(fields)) if fields["act"] else None
    return await look.show("bulk.html", given=fields, counted=counted, ages=_AGES)


async def conclude(look: Look) -> Response:
    """Do it to one group of the counted letters, and show how many are left."""
    form = await look.form()
    fields = {name: form.get(name, "").strip() for name in _GIVEN}
    try:
        before = datetime.fromisoformat(form.get("before", ""))
    except ValueError:
        raise Invalid(what="before", why="count them again") from None
    made = await look.office.bulk.do(look.caller, _act(fields), _which(fields), before, limit=_GROUP)
    return look.to(_PATH, {**{name: value or None for name, value in fields.items()}, "said": "bulk" if made.left else "bulk_all"})


def _act(given: dict[str, str]) -> BulkAct:
    try:
        return BulkAct(given["act"])
    except ValueError:
        raise Invalid(what="act", why="that cannot be done to many at once") from None


def _which(given: dict[str, str]) -> Which:
    return Which(
        agent=given["agent"] or None,
        sender=given["sender"] or None,
        type=given["type"] or None,
        reason=given["reason"] or None,
        older_than=_AGES.get(given["older"]),
    )

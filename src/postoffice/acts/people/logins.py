"""People come to look at the page: a link is made, used once, and becomes a login that lasts."""

from datetime import timedelta

from postoffice.acts.act import Act
from postoffice.acts.desk import Desk
from postoffice.acts.needs import Needs
from postoffice.acts.people.agents import proving_key
from postoffice.core.clock import micros
from postoffice.core.errors import BadLink, NoSuchAgent
from postoffice.core.names import OWNER, SYSTEM, folded

LINK, LOGIN = "link", "visit"  # as the table has them


class MakeLink(Act[None]):
    """Keep the hash of a link that opens the page for an agent, once."""

    def __init__(self, name: str, key: str | None, hash: str, lasts: timedelta) -> None:
        self.agent = folded(name)
        self.key = key
        self.hash = hash
        self.lasts = lasts

    def ask(self, needs: Needs) -> None:
        needs.boxes.add(self.agent)
        needs.keys.update((self.agent, OWNER))

    def run(self, desk: Desk) -> None:
        if self.agent not in desk.boxes:
            raise NoSuchAgent(name=self.agent, hint="check the name")
        end = desk.now + micros(self.lasts)
        key = proving_key(desk, self.key)
        if key is not None:
            end = min(end, key.expires_at or end)
        desk.write("add_login", (self.hash, self.agent, LINK, end))


class UseLink(Act[str]):
    """Use the link up and begin a login, which lasts no longer than any key of its agent. Gives whose it is."""

    def __init__(self, link: str, login: str, lasts: timedelta) -> None:
        self.link = link
        self.login = login
        self.lasts = lasts

    def ask(self, needs: Needs) -> None:
        needs.extra[f"login:{self.link}"] = (self.link,)
        needs.boxes.add(SYSTEM)  # the link's row says whose it is: using one locks the office's own mailbox

    def run(self, desk: Desk) -> str:
        logins, desk.extra[f"login:{self.link}"] = desk.extra[f"login:{self.link}"], []
        for agent, kind, expires_at, key_ends in logins:
            if kind == LINK and expires_at > desk.now:
                end = desk.now + micros(self.lasts)
                desk.write("delete_login", (self.link,))
                desk.write("add_login", (self.login, agent, LOGIN, min(end, key_ends or end)))
                return str(agent)
        raise BadLink


class EndLogin(Act[None]):
    """Whoever looked is done."""

    def __init__(self, hash: str) -> None:
        self.hash = hash

    def run(self, desk: Desk) -> None:
        desk.write("delete_login", (self.hash,))

"""What must lie on the desk before a group's acts can run: acts say it, the store loads and locks it."""

from postoffice.acts.rows import MailKey, Row, ThreadKey
from postoffice.core.delivery import Wish

LinesKey = tuple[str, int, int, str]
"""A session, before which number, how many, and who reads them."""
PlaceKey = tuple[str, int, str]
"""A machine, a process, and when that began."""


class Needs:
    """What the acts of one group need, by kind."""

    def __init__(self) -> None:
        # (message id or sender's id, mailbox), to be settled; False where it will only be acked
        self.mail: dict[tuple[str, str], bool] = {}
        self.bodies: set[tuple[str, str]] = set()  # of these, what was said is needed too
        self.wishes: list[tuple[str, Wish]] = []
        self.due = 0
        self.lines: set[LinesKey] = set()
        self.boxes: set[str] = set()
        self.agents = False  # whether what is known of the agents themselves decides or changes, and not only their mailboxes
        self.everyone = False
        self.threads: set[str] = set()
        self.thread_keys: set[ThreadKey] = set()
        self.pairs: set[tuple[str, str]] = set()
        self.dedupe: set[tuple[str, str, str]] = set()
        self.tasks: set[str] = set()
        self.workers: set[str] = set()  # agents of whose tasks under way it counts how many there are
        self.questions: set[str] = set()
        self.memories: set[str] = set()  # agents whose memory of letters to and fro counts
        self.connections: set[str] = set()
        self.codes: set[str] = set()
        self.requests: set[str] = set()  # agents whose pending requests count
        self.burning: set[str] = set()  # agents whose pending requests may have to go, their requesters with them
        self.keys: set[str] = set()
        self.limits: set[str] = set()
        self.entities: set[str] = set()
        self.windows: set[str] = set()
        self.places: set[PlaceKey] = set()  # of windows
        self.window_agents: set[str] = set()  # whose windows count, and whose lost ones may have to end
        self.rings: set[MailKey] = set()
        self.holders: set[str] = set()  # windows that may have mail in hand, if they are open
        self.window_sessions: set[tuple[str, str]] = set()  # whose names are remembered
        self.role_sessions: set[str] = set()  # sessions of roles, of which it counts whose they are
        self.takes: set[MailKey] = set()  # letters to roles, of which it counts who took them
        self.lists: set[str] = set()
        self.crowds: set[str] = set()  # of them, those to whose members a letter goes
        self.list_ids: set[str] = set()  # sessions that may be a list's
        self.list_places: set[tuple[str, str]] = set()  # a list, an agent
        self.list_places_by_id: set[tuple[str, str]] = set()
        self.list_letters: set[str] = set()  # messages that may have their place in a list's session
        self.extra: dict[str, Row] = {}  # named queries an act needs for itself alone

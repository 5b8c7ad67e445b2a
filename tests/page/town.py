"""A small town to look at: agents with something to say, tasks under way, requests, and a letter that died."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx

AGENTS = {
    "atlas": ("plans releases and keeps the others to them", ["planning", "release notes"]),
    "coder": ("writes and reviews Python", ["python", "review", "refactoring", "tests", "typing"]),
    "docs": ("writes what people read", ["writing", "diagrams"]),
    "nightly": ("runs the builds while everybody sleeps", ["ci"]),
    "scout": ("reads the trackers of other projects", ["research", "summaries"]),
    "Wren": ("a person, now and then", []),
}
REVIEW = """Two things before this can go in:

1. `read_settings` swallows the error; let it **through** with the name of the setting.
2. The retry has no upper bound. Something like this would do:

```python
def next_try(attempts: int) -> timedelta:
    # doubles, but never past five minutes
    return min(timedelta(seconds=1) * 2 ** attempts, timedelta(minutes=5))
```

| case | before | after |
|---|---|---|
| first try | 0 s | 1 s |
| tenth | 512 s | 300 s |

See [the guide](https://example.com/guide/retries) for why."""


class Town:
    """An open office at an address, spoken to as whoever has something to say."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._http = httpx.Client(base_url=url, timeout=30, trust_env=False)

    def close(self) -> None:
        self._http.close()

    def call(self, who: str, method: str, path: str, body: Any = None) -> Any:
        answer = self._http.request(method, path, json=body, headers={"X-Agent": who})
        assert answer.is_success, (who, path, answer.text)
        return answer.json()

    def appear(self, who: str) -> None:
        """Be there: to look makes nobody an agent."""
        self.call(who, "PATCH", "/agents/me", {})

    def send(self, who: str, to: str, content: str | None = None, **fields: Any) -> Any:
        body = {"to": to, "subject": fields.pop("subject", "Hello"), **fields}
        return self.call(who, "POST", "/messages/send", body if content is None else body | {"content": content})

    def take(self, who: str) -> Any:
        (message,) = self.call(who, "POST", "/messages/receive", {"limit": 1})["messages"]
        return message

    def settle(self, who: str, act: str = "ack", **fields: Any) -> Any:
        message = self.take(who)
        self.call(who, "POST", f"/messages/{message['id']}/{act}", {"token": message["token"], **fields})
        return message

    def populate(self) -> None:
        """Give it a morning's worth of life."""
        shop = {"project": "/home/ann/shop", "seconds": 7200}
        self.call("coder", "POST", "/reservations", {**shop, "paths": ["src/pay/**", "tests/test_pay.py"], "why": "moving to the new API"})
        self.call(
            "coder", "POST", "/recurring", {"every": "0 9 * * 1-5", "zone": "Europe/Berlin", "to": "docs", "content": "Where are we?"}
        )
        self.call("docs", "POST", "/reservations", {**shop, "paths": ["docs/**"], "why": "the guide", "exclusive": False})
        for name, (description, capabilities) in AGENTS.items():
            self.call(name, "PATCH", "/agents/me", {"description": description, "capabilities": capabilities})
        self.send(
            "coder",
            "atlas",
            "Which branch shall I base this on? The old one has the fix, the new one has the tests.",
            subject="Which branch",
        )
        self.settle("atlas")
        self.send("atlas", "coder", "The new one. I will carry the fix over tonight.", subject="Which branch")
        self.settle("coder")
        self.send("coder", "atlas", "Good. Then the retry patch is ready for your eyes.", subject="Which branch")
        self.send(
            "scout",
            "docs",
            "Three peers answer *unknown recipient* with silence. Ours answers with a suggestion: worth a line.",
            subject="What others do",
        )
        self.settle("docs")
        self.send(
            "docs",
            "scout",
            None,
            subject="What others do",
            payload={
                "section": "Comparison",
                "rows": [{"peer": "one", "answers": False, "seconds": 2.6}, {"peer": "two", "answers": True, "seconds": 0.04}],
                "note": "numbers from their own pages",
                "draft": True,
                "reviewed_by": None,
            },
        )
        self.send("atlas", "coder", REVIEW, subject="Review of the retry patch", priority=2)
        message = self.take("coder")
        self.call("coder", "POST", f"/messages/{message['id']}/nack", {"token": message["token"], "reason": "the model was busy"})
        self.take("coder")
        self.send("nightly", "ALL", "The build is green again after 3 runs.", subject="Build 4211", type="report")
        self.send("coder", "owner", "May I delete the `legacy/` folder? Nothing imports it since March.", subject="A question for a person")
        self.ask("atlas", "coder", "Bound the retries", hours=5)
        working = self.ask("atlas", "docs", "Write the upgrade notes", hours=20)
        self.move("docs", working, "working", "two of five sections done")
        late = self.ask("atlas", "scout", "Read the three trackers", hours=-1)
        accepted = self.ask("Wren", "coder", "Look at the flaky test", hours=1)
        self.move("coder", accepted, "accepted")
        done = self.ask("atlas", "nightly", "Nightly build", hours=3)
        self.move("nightly", done, "completed", "green in 14 minutes")
        failed = self.ask("atlas", "nightly", "Benchmark on the small machine")
        self.move("nightly", failed, "failed", "the machine has no room left")
        self.ask("coder", "owner", "Decide: keep Python 3.11?", hours=30)
        assert late
        self.call(
            "scout",
            "POST",
            "/connections/request",
            {"target_agent_name": "nightly", "message": "I would like to hear of red builds, once a day."},
        )
        self.call("docs", "POST", "/connections/request", {"target_agent_name": "Wren", "message": "May I send you drafts?"})
        code = self.call("coder", "POST", "/connections/request", {"target_agent_name": "docs"})["verification_code"]
        self.call("docs", "POST", "/connections/approve", {"verification_code": code})
        self.kill("nightly", "scout", "Weekly digest", "cannot parse the attachment: unexpected end of file")

    def ask(self, who: str, of: str, subject: str, hours: float | None = None, **links: Any) -> str:
        """Ask for work, due in so many hours."""
        due = None if hours is None else (datetime.now(UTC) + timedelta(hours=hours)).isoformat()
        sent = self.send(who, of, f"{subject}, please.", subject=subject, type="task", task={"deadline": due, **links})
        return str(sent["message_id"])

    def move(self, who: str, task: str, state: str, content: str = "") -> None:
        self.call(who, "POST", f"/tasks/{task}/update", {"state": state, "content": content})

    def kill_all(self, who: str, to: str, subjects: Iterable[str], reason: str) -> None:
        """Send letters that fail until they are dead, together."""
        for subject in subjects:
            self.send(who, to, f"{subject} is attached.", subject=subject)
        for _ in range(10):
            taken = self.call(to, "POST", "/messages/receive", {"limit": 100})["messages"]
            failed = [{"id": letter["id"], "token": letter["token"], "reason": reason} for letter in taken]
            self.call(to, "POST", "/messages/settle", {"nack": failed})

    def kill(self, who: str, to: str, subject: str, reason: str) -> str:
        """Send a letter that fails until it is dead."""
        sent = self.send(who, to, f"{subject} is attached.", subject=subject, priority=1)
        for _ in range(10):
            self.settle(to, "nack", reason=reason)
        return str(sent["message_id"])

"""A file agent in a process of its own, which writes and reads as fast as it can. Made to be killed."""

import os
import sys
import time
from pathlib import Path

from postoffice_files import MailboxManager, Settings

ME, FRIEND = "coder", "alice"


def main(root: Path, count: int, said: Path) -> None:
    """Write so many messages, each under an id of its own, and handle whatever comes."""
    mail = MailboxManager(root, Settings(claim_for=1.0, max_attempts=1_000))
    mail.register(ME)
    # What was written and not said is written again, under the same id.
    sent = len(said.read_text().splitlines()) if said.exists() else 0
    log = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    while True:
        if sent < count:
            mail.send(ME, FRIEND, {"id": f"up-{sent}", "content": f"This is up-{sent}."})
            os.write(log, f"up-{sent}\n".encode())
            sent += 1
        taken = mail.poll(ME, limit=5)
        for message in taken:
            mail.mark_processed(ME, message["filename"])
        if not taken and sent == count:
            time.sleep(0.02)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))

"""A bare FastAPI application that answers a send without doing anything: what the framework alone costs."""

import sys
from typing import Any

import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel

app = FastAPI()


class Letter(BaseModel):
    """The fields that the benchmark's sends have."""

    to: str
    subject: str | None = None
    content: str | None = None


@app.get("/health")
async def health() -> dict[str, str]:
    """Alive."""
    return {"status": "ok"}


@app.post("/messages/send", status_code=201)
async def send(letter: Letter) -> dict[str, Any]:
    """Say back what was said."""
    return {"message_id": "0199d2a0-0000-7000-8000-000000000004", "to": letter.to, "subject": letter.subject, "duplicate": False}


if __name__ == "__main__":
    uvicorn.run(app, port=int(sys.argv[1]), loop="uvloop", http="httptools", ws="none", log_config=None, access_log=False)

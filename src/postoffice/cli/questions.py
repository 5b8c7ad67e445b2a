"""Commands about questions to people: ask one, see what is open, answer."""

from datetime import datetime
from typing import TYPE_CHECKING, Any

from postoffice.cli import ids
from postoffice.cli.command import Command, Options, argument
from postoffice.cli.dates import moment_of
from postoffice.cli.pages import LIMIT, gathered, tell_of_more
from postoffice.cli.reply import LONGEST_WAIT_SECONDS, awaited
from postoffice.cli.show import ago, ahead, say, table
from postoffice.client.path import part
from postoffice.client.text_body import text_body
from postoffice.core.clock import sender_id
from postoffice.core.errors import BadLimit, BadSetting
from postoffice.core.names import OWNER

if TYPE_CHECKING:
    from rich.console import Console

    from postoffice.client.wire import Wire


async def ask(wire: "Wire", options: Options) -> Any:
    """Ask a person a question that stays open until it is answered; wait for the answer if asked to."""
    if not options["text"].strip():
        raise BadSetting(name="text", why="say what you ask: postoffice ask 'Ship 1.4 today?' --choice yes --choice no")
    seconds = options["wait"]
    if seconds is not None and not 0 <= seconds <= LONGEST_WAIT_SECONDS:
        raise BadLimit(what="--wait", least=0, most=LONGEST_WAIT_SECONDS, value=seconds)
    terms: dict[str, Any] = {"choices": options["choice"] or [], "text": not options["only_choices"]}
    if options["default"] is not None:
        terms["default"] = options["default"]
    if options["deadline"] is not None:
        terms["deadline"] = moment_of(options["deadline"], datetime.now().astimezone()).isoformat()
    mark = sender_id()
    body = {
        "to": options["to"],
        "subject": options["subject"],
        **text_body(options["text"]),
        "ask": terms,
        "id": mark,
        "correlation_id": mark,
    }
    sent = await wire.post("/messages/send", body)
    if seconds is None:
        return sent
    return {"sent": sent, "reply": await awaited(wire, sent, options["to"], mark, seconds)}


def _asked(console: "Console", answer: Any) -> None:
    if "reply" not in answer:
        (to,) = answer["recipients"]
        say(console, f"Asked {to['recipient']}; the question {ids.short(answer['message_id'])} is open until it is answered.")
        return
    reply = answer["reply"].get("answer") or {}
    words = " ".join(filter(None, (reply.get("choice"), reply.get("text"))))
    say(console, f"{reply.get('by') or 'Nobody'}: {words or reply.get('state', '')}")


async def questions(wire: "Wire", options: Options) -> Any:
    """List open questions to the caller, or by it."""
    wanted = {"asked_by_me": options["asked"], "everyone": options["everyone"], "any_state": options["all"]}
    return await gathered(wire, "/questions", "questions", options["limit"], **wanted)


def _questions(console: "Console", answer: Any) -> None:
    shown = ids.all_short(question["id"] for question in answer["questions"])
    rows = [
        (question["asker"], question["person"], _says(question), _stands(question), ago(question["created_at"]), id)
        for question, id in zip(answer["questions"], shown, strict=True)
    ]
    table(console, ("from", "to", "says", "is", "since", "question"), rows, "No open questions.")
    tell_of_more(console, answer)
    if any(question["state"] == "open" for question in answer["questions"]):
        say(console, "Answer: postoffice answer QUESTION 'CHOICE OR WORDS'")


def _says(question: Any) -> str:
    choices = " / ".join(question["choices"])
    return " ".join(f"{question['content'] or question['subject']} {f'[{choices}]' if choices else ''}".split())


def _stands(question: Any) -> str:
    if question["state"] != "open":
        return str(question["choice"] or question["answer"] or question["state"])
    return "open" if question["deadline"] is None else f"open, ends {ahead(question['deadline'])}"


async def answer(wire: "Wire", options: Options) -> Any:
    """Answer a question: by a choice, or in words."""
    listed = (await wire.get("/questions", limit=200, any_state=True))["questions"]
    id = ids.only(options["question"], [question["id"] for question in listed])
    choices: list[str] = next((question["choices"] for question in listed if question["id"] == id), [])
    given, words = options["answer"], options["words"]
    choice = next((one for one in choices if one.lower() == given.lower()), None)
    if choice is None and given.isdecimal() and 1 <= int(given) <= len(choices):
        choice = choices[int(given) - 1]
    reply = {"choice": choice, "text": words} if choice is not None else {"choice": None, "text": " ".join(filter(None, (given, words)))}
    return await wire.post(f"/questions/{part(id)}/answer", reply | {"id": sender_id()})


def _answered(console: "Console", given: Any) -> None:
    words = " ".join(filter(None, (given["choice"], given["answer"])))
    say(console, f"Answered {given['asker']}: {words}")


COMMANDS = (
    Command(
        "ask",
        "ask a person something that stays open until it is answered",
        (
            "postoffice ask 'Ship 1.4 today?' --choice 'ship it' --choice wait --as coder",
            "postoffice ask 'Which port?' --default 8787 --deadline 'in 2h' --as coder",
            "postoffice ask 'Delete the branch?' --choice yes --choice no --only-choices --wait 240 --as coder",
        ),
        ask,
        _asked,
        (
            argument("text", help="the question"),
            argument("--to", default=OWNER, metavar="PERSON", help="whom to ask (owner)"),
            argument("--subject", default="", help="what it is about"),
            argument("--choice", action="append", help="an answer to choose; more than once, up to ten"),
            argument("--only-choices", action="store_true", help="allow only the choices as an answer"),
            argument("--default", help="what counts if nobody answers by the deadline"),
            argument("--deadline", metavar="TIME", help="how long it stays open: tomorrow, friday 17:00, in 2h, 2026-12-31T18:00"),
            argument("--wait", type=float, metavar="SECONDS", help="wait for the answer"),
        ),
    ),
    Command(
        "questions",
        "show the questions that wait for an answer",
        ("postoffice questions", "postoffice questions --asked --as coder", "postoffice questions --all"),
        questions,
        _questions,
        (
            argument("--asked", action="store_true", help="those one has asked"),
            argument("--all", action="store_true", help="also those that are closed"),
            argument("--everyone", action="store_true", help="of all agents, for the owner"),
            LIMIT,
        ),
    ),
    Command(
        "answer",
        "answer a question, as a person",
        ("postoffice answer 3fe348 'ship it'", "postoffice answer 3fe348 2 'but not before noon'", "postoffice answer 3fe348 'Port 9000'"),
        answer,
        _answered,
        (
            argument("question", metavar="QUESTION", help="a question's id, or the end of it"),
            argument("answer", help="a choice, its number, or words"),
            argument("words", nargs="?", help="words beside a choice"),
        ),
    ),
)

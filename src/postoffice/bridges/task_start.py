"""Begins a task: reports it as under way, unless it is too late."""

from postoffice.client.message import Message
from postoffice.core.errors import DeadlinePassed, TaskFinal
from postoffice.core.task import TaskState


async def start_task(message: Message, id: str) -> bool:
    """Begin a task; False if there is nothing to do. A task past its deadline is rejected, and one that is over is left alone."""
    try:
        await message.report(TaskState.WORKING, automatic=True)
    except TaskFinal:
        return False
    except DeadlinePassed as error:
        await message.report(TaskState.REJECTED, str(error), automatic=True, id=id)
        return False
    return True

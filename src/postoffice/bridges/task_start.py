"""The beginning of a task: reported as under way, unless it is too late for that."""

from postoffice.client.message import Message
from postoffice.core.errors import DeadlinePassed, TaskFinal
from postoffice.core.task import TaskState


async def start_task(message: Message, id: str) -> bool:
    """Whether there is work to do. A task whose deadline has passed is rejected, and of one that is over nothing is left."""
    try:
        await message.report(TaskState.WORKING, automatic=True)
    except TaskFinal:
        return False
    except DeadlinePassed as error:
        await message.report(TaskState.REJECTED, str(error), automatic=True, id=id)
        return False
    return True

"""What the tools do: each module here answers the tools that the module of the same name in `core/tools/` lists."""

from postoffice.doors.mcp.tools import directory, fifo, inbox, ledger, mail, messages, queue, tasks, work
from postoffice.doors.mcp.tools.verb import Verb

VERBS: dict[str, Verb] = {
    verb.tool.name: verb for module in (mail, fifo, queue, inbox, directory, tasks, messages, ledger, work) for verb in module.VERBS
}

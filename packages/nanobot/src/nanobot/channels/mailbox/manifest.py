"""What nanobot's settings show of the mailbox channel, before anything of it is loaded."""

from nanobot.channels.contracts import ChannelFieldSpec, ChannelSetupSpec, SetupRequirement
from nanobot.channels.plugin import ChannelPlugin

from postoffice_nanobot.config import MailboxConfig

_KINDS = {"agentId": "string", "description": "string", "capabilities": "list", "allowFrom": "list"} | {
    "maxConcurrentTasks": "int",
    "pollInterval": "float",
    "mailboxesRoot": "string",
}

PLUGIN = ChannelPlugin(
    name="mailbox",
    display_name="Mailbox",
    runtime="nanobot.channels.mailbox.runtime:MailboxChannel",
    setup=ChannelSetupSpec(
        fields={
            name: ChannelFieldSpec(kind=kind, default=MailboxConfig().model_dump(by_alias=True)[name]) for name, kind in _KINDS.items()
        },
        required=(SetupRequirement.field("agentId"),),
    ),
)

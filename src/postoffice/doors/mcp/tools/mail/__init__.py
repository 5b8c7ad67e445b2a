"""The mail tools for minds: each file answers one or two tools of `core/tools/mail.py`."""

from postoffice.doors.mcp.tools.mail import finding, people, settling, taking, tasks, writing

VERBS = (*taking.VERBS, *writing.VERBS, *settling.VERBS, *finding.VERBS, *tasks.VERBS, *people.VERBS)

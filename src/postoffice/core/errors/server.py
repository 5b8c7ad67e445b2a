"""What can keep a server from starting, keeping mail or answering."""

from postoffice.core.errors.kinds import Conflict, Forbidden, Invalid, Unavailable


class BadSetting(Invalid):
    """The setting {name} is wrong: {why}."""


class NotSafe(Invalid):
    """Not started: {why}."""


class OutcomeUnknown(Unavailable):
    """Whether that was committed is not known ({why}); send it again with the same id."""


class DiskFull(Unavailable):
    """The disk of the mailbox database is full; nothing was stored. Free some space and try again; what is there can be read and settled."""


class StoreFull(DiskFull):
    """The mail takes {size} bytes, and may take {limit} (total_bytes); nothing was stored. Have old mail purged (retention), or allow more."""


class ReadOnly(Unavailable):
    """The mailbox database cannot be written ({why}); nothing was stored."""


class Damaged(Unavailable):
    """The mailbox database is damaged ({why}); stop the office and bring a backup back: postoffice restore FILE --data NEW."""


class DatabaseLost(Unavailable):
    """The database does not answer ({why}); nothing was stored. See that it runs, and try again."""


class DatabaseInUse(Unavailable):
    """{path} is in use by another postoffice (process {pid}); stop that one, or choose another --data directory."""


class NoRegistry(Unavailable):
    """The registry in {root} cannot be read, so nobody knows who is at home there; its agents enter themselves again."""


class FilesInUse(Unavailable):
    """Another office serves the files in {root}; stop it, or give this one files of its own."""


class NotOurOffice(Forbidden):
    """Whoever answers at {server} cannot prove to be this machine's own office, whose data is in {data}; it was told nothing. See who has the port; say in POSTOFFICE_DATA where that office keeps its data, or POSTOFFICE_AUTOSTART=0 to believe whoever answers."""


class OfficeNotStarted(Unavailable):
    """The office of this machine could not be opened at {server} ({why}); its log is {log}."""


class StartedByHand(Conflict):
    """A person started this office; whoever did closes it there, by Ctrl-C or its service."""


class CannotListen(Unavailable):
    """Cannot listen on {host}:{port} ({why}); choose another --host or --port (POSTOFFICE_PORT), or stop what uses it."""


class NoAnswer(Unavailable):
    """No office answers at {server}; start it there with `postoffice serve`, or say where it is, and try again."""


class BrokeOff(Unavailable):
    """The office at {server} broke off before it answered: that may be done or not; look, or send it again with the same id if it had one."""


class ExtraMissing(Unavailable):
    """The settings ask for something that is not installed; run `pip install 'postoffice[{extra}]'`."""


class MigrationFailed(Unavailable):
    """The migration failed and changed nothing: {why}."""


class CommandFailed(Unavailable):
    """The command failed: {why}."""


class BackupFailed(Unavailable):
    """Nothing was changed: {why}."""


class SchemaMissing(Unavailable):
    """The database has schema {found}, this program needs {needed}; run `postoffice migrate`."""


class SchemaTooNew(Unavailable):
    """The database needs program generation {oldest} or newer, this is {program}; upgrade postoffice."""

"""What can be wrong with attachments and their uploads."""

from postoffice.core.errors.kinds import Conflict, Invalid, Limited, NotFound, Unavailable


class BadDigest(Invalid):
    """{digest!r} is no digest; give sha256: and 64 hexadecimal digits."""


class DigestMismatch(Invalid):
    """These bytes have the digest {found}, not {digest}; nothing was kept. Send them again."""


class BadRange(Invalid):
    """{range!r} is no part of the {size} bytes there are."""


class WrongLength(Invalid):
    """The upload was said to have {size} bytes, and {came} came; begin again with the right size."""


class TooManyParts(Invalid):
    """The upload came in more than {limit} parts; begin again and send larger ones."""


class NoSuchAttachment(NotFound):
    """{name} has no attachment {digest}; upload it, or ask for a letter that carries it."""


class NoSuchUpload(NotFound):
    """{name} has no upload {id!r} under way; it may be done, or dropped because nothing came any more."""


class WrongOffset(Conflict):
    """The upload {id} stands at byte {offset}, not {given}; go on from there."""


class QuotaSpent(Limited):
    """{name} would keep {size} bytes of attachments here, more than its {limit}; have letters with old ones purged, or ask the owner for more."""


class TooManyUploads(Limited):
    """{name} has {count} uploads under way, the limit; finish or drop some of them first."""


class DepotLost(Unavailable):
    """Where attachments are kept does not answer ({why}); nothing was accepted. See to it, and try again."""


class AttachmentGone(Unavailable):
    """Some bytes of {digest} are not where they are kept; bring them back from a backup of the attachments."""

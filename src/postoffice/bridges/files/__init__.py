"""The bridge between the office and a tree of file mailboxes (seed 002)."""

from postoffice.bridges.files.bridge import FileBridge

__all__ = ["FileBridge"]

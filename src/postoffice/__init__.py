"""Durable mail between AI agents."""

from importlib.metadata import version

__version__ = version("postoffice")

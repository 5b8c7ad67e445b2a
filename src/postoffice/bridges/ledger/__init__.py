"""The bridge between the office and a public ledger (HCS-10/11, seed 004)."""

from postoffice.bridges.ledger.bridge import LedgerBridge

__all__ = ["LedgerBridge"]

"""Acts about the ledger: accounts, the outbox, topics, agents of other software, what was seen."""

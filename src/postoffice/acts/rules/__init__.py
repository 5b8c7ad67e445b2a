"""Rules that several acts share: idempotency, rates, finding a message, depth."""

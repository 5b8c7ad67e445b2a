"""All that is kept, and all SQL: one Store protocol, two engines, one conformance suite."""

"""The composition root: settings become a store, a wake-up service, an office, and a web application."""

"""The pure rules: no I/O, nothing awaits, time is an argument."""

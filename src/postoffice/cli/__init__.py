"""The command `postoffice`."""
